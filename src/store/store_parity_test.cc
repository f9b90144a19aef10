// Random changes of deliveries, applied to the memory store and the SQLite store: all queries give the same results.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "store/memory/store.h"
#include "store/sqlite/store.h"
#include "store/testing/sample_records.h"
#include "store/testing/sim_disk.h"

namespace relay::store {
namespace {

using namespace records;
using namespace sample;

constexpr int kSeeds = 12;
constexpr int kGroups = 40;
constexpr std::uint64_t kMaxGroup = 8;
const std::string kAgents[] = {"Alice", "Bob", "Carol"};

std::string describe(const Delivery& delivery) {
  return format("d{}/m{} {}>{} lane {} rank {} seq {} {} {} hold {} until {} tries {} ends {}", delivery.key.value(),
                delivery.message.value(), delivery.from.value(), delivery.to.value(),
                protocol::lane_code(delivery.lane), delivery.rank.value(), delivery.seq.value(),
                name_of(delivery.state), name_of(delivery.proof), static_cast<int>(delivery.hold),
                delivery.available_at, delivery.attempts, delivery.expires_at);
}

std::string describe(const HistoryEntry& event) {
  return format("[{} {} {} {} {} {}]", event.at, name_of(event.state), name_of(event.proof), event.reason, event.via,
                event.evidence);
}

std::string describe(const WorkspaceState& snapshot) {
  auto text = format("newest {} expiry {} due {}\n", snapshot.newest.value(), snapshot.next_expiry, snapshot.next_due);
  for (const auto& flow : snapshot.backlogs)
    text += format("{}>{} lane {}: {} held {}\n", flow.from.value(), flow.to.value(), protocol::lane_code(flow.lane),
                   flow.pending, flow.held);
  for (const auto& counts : snapshot.counts)
    text += format("{} sent {} received {}\n", counts.agent.value(), counts.sent, counts.received);
  for (const auto& stream : snapshot.streams)
    text += format("{}>{} lane {}: {} {}\n", stream.from.value(), stream.to.value(), protocol::lane_code(stream.lane),
                   stream.last.value(), stream.acked.value());
  return text;
}

/// The results of all queries as text.
std::string describe_all(MessageStore& store) {
  const auto snapshot = store.load().value();
  auto text = describe(snapshot);
  EventQuery log;
  log.limit = 100'000;
  const auto events = store.events(log).value();
  text += format("events {} to {}\n", events.oldest, events.newest);
  for (const auto& event : events.events) text += event.json + '\n';
  for (const auto& flow : snapshot.backlogs) {
    const auto page = store.backlog(backlog_of(flow.to.value(), 0, flow.from.value(), flow.lane)).value();
    for (const auto& item : page.items) text += "ready " + describe(item.delivery) + '\n';
  }
  HeldRequest held;
  held.due_by = kStart + 40;
  for (const auto& name : {std::string{}, kAgents[0], kAgents[1], kAgents[2]}) {
    held.to = AgentName{name};
    const auto page = store.held(held).value();
    text += format("held of {}: more {} next {}\n", name, page.more, page.next_due);
    for (const auto& item : page.items) text += "held " + describe(item.delivery) + '\n';
    DeliveryQuery dead;
    dead.to = name;
    const auto dead_rows = store.deliveries(dead).value();
    for (const auto& row : dead_rows) text += "dead " + describe(row.delivery) + ' ' + describe(row.last) + '\n';
    const auto unread = store.messages(QueryBuilder{}.delivered_to(name).unread_only()).value();
    for (const auto& row : unread) text += format("unread m{} {}\n", row.message.key.value(), name_of(row.state));
  }
  const auto rows = store.messages(QueryBuilder{}.limit(1'000)).value();
  for (const auto& row : rows) {
    const auto trace = store.trace(short_id(row.message.key)).value();
    for (const auto& entry : trace.deliveries) {
      text += describe(entry.delivery);
      for (const auto& event : entry.history) text += describe(event);
      text += '\n';
    }
  }
  const auto stats = store.stats().value();
  return text + format("{} messages {} pending {} dead, oldest {}\n", stats.messages, stats.pending, stats.dead,
                       stats.oldest_pending);
}

class RandomChanges {
 public:
  explicit RandomChanges(std::uint64_t seed) : random_{seed} {}

  Change next() {
    switch (random_.below(8)) {
      case 0:
      case 1: return requeue();
      case 2:
      case 3: return add();
      default: return change();
    }
  }
  Changes message() {
    const auto key = ++newest_;
    messages_.push_back(key);
    return {AddMessage{sample::message(key, agent(), agent(), "hello")}, add()};
  }
  bool often(std::uint64_t one_in) { return random_.below(one_in) == 0; }
  std::size_t some() { return random_.below(kMaxGroup); }
  RemoveAgent removal() { return {AgentName{agent()}, often(2), kStart + newest_}; }
  WallMs time() { return kStart + static_cast<WallMs>(random_.below(100)); }

 private:
  const std::string& agent() { return kAgents[random_.below(std::size(kAgents))]; }
  protocol::Lane lane() { return *protocol::lane_from_code(random_.below(protocol::kLanes)); }
  Hold hold() { return static_cast<Hold>(random_.below(3)); }
  DeliveryState state() { return static_cast<DeliveryState>(random_.below(9)); }
  Proof proof() { return static_cast<Proof>(random_.below(5)); }
  Key any_key() { return Key{1 + static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(newest_)))}; }

  Change add() {
    auto added = delivery(++newest_, messages_[random_.below(messages_.size())], agent(), random_.below(50), agent());
    added.lane = lane();
    added.expires_at = time();
    if (often(3)) added.hold = hold();
    if (often(4)) added.state = state();
    added.available_at = time();
    AddDelivery change{added};
    if (often(3)) change.reason = "a reason";
    if (often(3)) change.at = time();
    return change;
  }
  Change requeue() {
    return RequeueDelivery{any_key(), lane(), Key{++newest_}, Seq{random_.below(50)}, time(), "again"};
  }
  Change change() {
    ChangeDelivery change{any_key(), state(), proof(), time()};
    if (often(2)) change.via = "pty";
    if (often(2)) change.evidence = "seen";
    if (often(3)) change.hold = hold();
    if (often(2)) change.available_at = time();
    if (often(3)) change.attempts = static_cast<std::uint32_t>(random_.below(9));
    return change;
  }

  SeededRandom random_;
  std::int64_t newest_ = 0;
  std::vector<std::int64_t> messages_;
};

/// Applies one group to one store; a refused change rolls back the whole group.
bool apply_all(MessageStore& store, const Changes& changes, bool keep) {
  if (!store.begin()) return false;
  for (const auto& change : changes) {
    if (!store.apply(change)) return false;
  }
  if (keep) return store.commit().has_value();
  store.rollback();
  return true;
}

TEST(StoreParity, RandomDeliveryChangesGiveSameResults) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(format("seed {}", seed));
    SimDisk disk;
    MemoryStore memory;
    auto durable = SqliteStore::open(
        {.path = "db", .durability = Durability::Process, .vfs = disk.vfs(), .sharing = Sharing::Exclusive});
    ASSERT_TRUE(durable);
    RandomChanges random{seed};
    for (int group = 0; group < kGroups; ++group) {
      auto changes = random.message();
      for (auto more = random.some(); more > 0; --more) changes.push_back(random.next());
      if (random.often(15)) changes.push_back(random.removal());
      if (random.often(4)) changes.insert(changes.begin() + 1, PutAgent{agent(kAgents[seed % std::size(kAgents)])});
      const bool keep = !random.often(6);
      ASSERT_EQ(apply_all(memory, changes, keep), apply_all(**durable, changes, keep));
      if (random.often(5)) {
        const ExpireRequest request{random.time(), 3};
        ASSERT_TRUE(memory.begin() && (*durable)->begin());
        const auto one = memory.expire(request).value(), other = (*durable)->expire(request).value();
        ASSERT_EQ(one.next_expiry, other.next_expiry);
        ASSERT_TRUE(std::ranges::equal(one.expired, other.expired, [](const auto& a, const auto& b) {
          return a.delivery == b.delivery && a.hold == b.hold && a.to == b.to && a.from == b.from &&
                 a.reason == b.reason;
        }));
        ASSERT_TRUE(memory.commit() && (*durable)->commit());
      }
    }
    ASSERT_EQ(describe_all(memory), describe_all(**durable));
  }
}

}  // namespace
}  // namespace relay::store
