// Store files modified by another program: opening yields a working store, a quarantined file with a message, or one
// error; never a crash or a hang.
//
// The input is a list of edits to a small valid database and its log:
//   file and kind (1 byte), offset (3 bytes), value (1 byte).
#include <cstdint>
#include <string>

#include "check.h"
#include "store/sqlite/store.h"
#include "store/testing/sample_records.h"
#include "store/testing/sim_disk.h"

namespace {

using namespace relay;
using namespace relay::store;
using namespace relay::store::sample;

constexpr std::size_t kEditBytes = 5;
constexpr std::size_t kMaxEdits = 64;
constexpr int kMaxBackgroundSteps = 20;
const std::string kPath = "messages.sqlite";
const std::string kLog = kPath + "-wal";

struct Files {
  std::string database, log;
};

SqliteOptions options(const SimDisk& disk) {
  return {.path = kPath,
          .durability = Durability::Process,
          .vfs = disk.vfs(),
          .sharing = Sharing::Exclusive,
          .now = kStart};
}

/// The state after a kill: some rows in the database, some only in the log.
Files valid_files() {
  SimDisk disk;
  {
    auto store = *SqliteStore::open(options(disk));
    RELAY_ASSERT(commit(*store, {records::PutAgent{agent("Alice")}, records::PutSession{session("s", "Alice")},
                                 records::JoinChannel{{"#general", AgentName{"Alice"}}},
                                 records::SetOutboxMark{{AgentName{"Alice"}, "epoch", 3, {1}, kStart}},
                                 records::PutProposal{proposal("p", "Alice")}}));
    for (std::int64_t key = 1; key < 60; key += 2)
      RELAY_ASSERT(commit(*store, direct(key, "Alice", "Bob", "some words in the first file")));
    RELAY_ASSERT(store->index_step(1'000));
  }
  auto store = *SqliteStore::open(options(disk));
  for (std::int64_t key = 61; key < 80; key += 2)
    RELAY_ASSERT(commit(*store, direct(key, "Bob", "Alice", "more words in the log")));
  auto held = change(62, records::DeliveryState::Deferred);
  held.hold = records::Hold::Time;
  held.available_at = kStart;
  RELAY_ASSERT(
      commit(*store, {change(2, records::DeliveryState::Delivered), change(4, records::DeliveryState::Dead), held,
                      records::RequeueDelivery{Key{64}, {protocol::DeliveryMode::Manual}, Key{81}, Seq{2}}}));
  return {*disk.read(kPath), *disk.read(kLog)};
}

void edit(std::string& file, unsigned what, std::size_t where, char value) {
  constexpr std::size_t kSector = SimDisk::kSectorBytes;
  if (file.empty()) return;
  where %= file.size();
  switch (what % 5) {
    case 0: file[where] = value; break;
    case 1: file[where] = static_cast<char>(file[where] ^ value); break;
    case 2: file.resize(where); break;
    case 3:
      file.replace(where, std::min(kSector, file.size() - where), std::min(kSector, file.size() - where), value);
      break;
    default:
      file.replace(where, 1, file.substr(0, std::min<std::size_t>(static_cast<unsigned char>(value), file.size())));
  }
}

/// Every query of a daemon. A failure must have a message.
void use(SqliteStore& store) {
  const auto check_error = [](const auto& result) {
    if (!result) FUZZ_CHECK(!result.error().message().empty());
    return result.has_value();
  };
  const auto state = store.load();
  check_error(state);
  check_error(store.messages(QueryBuilder{}.limit(1'000)));
  check_error(store.messages(QueryBuilder{}.delivered_to("Bob").unread_only()));
  check_error(store.messages(QueryBuilder{}.search("words")));
  check_error(store.trace(records::short_id(Key{1})));
  check_error(store.stats());
  check_error(store.backlog(backlog_of("Bob")));
  records::HeldRequest held;
  check_error(store.held(held));
  held.to = AgentName{"Alice"};
  check_error(store.held(held));
  check_error(store.deliveries({}));
  const auto key = state ? state->newest.value() : 1'000;
  if (key < INT64_MAX - 2) check_error(commit(store, direct(key + 1, "Alice", "Bob", "after recovery")));
  for (int step = 0; step < kMaxBackgroundSteps; ++step) {
    const auto more = store.index_step(100);
    if (!check_error(more) || !*more) break;
  }
  for (int step = 0; step < kMaxBackgroundSteps; ++step) {
    const auto more = store.prune_step({.max_age_ms = 20, .max_bytes = 1}, kStart + 60, 10);
    if (!check_error(more) || !*more) break;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Files valid = valid_files();
  auto files = valid;
  for (std::size_t at = 0, edits = 0; at + kEditBytes <= size && edits < kMaxEdits; at += kEditBytes, ++edits) {
    const auto where =
        static_cast<std::size_t>(data[at + 1]) << 16 | static_cast<std::size_t>(data[at + 2]) << 8 | data[at + 3];
    edit((data[at] & 1) == 0 ? files.database : files.log, data[at] >> 1, where, static_cast<char>(data[at + 4]));
  }

  SimDisk disk;
  disk.put(kPath, files.database);
  if (!files.log.empty()) disk.put(kLog, files.log);
  for (int life = 0; life < 2; ++life) {
    const auto before = disk.files().size();
    auto store = SqliteStore::open(options(disk));
    if (!store) {
      FUZZ_CHECK(!store.error().message().empty());
      return 0;
    }
    if (!(*store)->warning().empty()) {
      // Quarantined, and the new file is valid.
      FUZZ_CHECK(disk.files().size() >= before);
      FUZZ_CHECK((*store)->load().has_value());
    }
    use(**store);
  }
  return 0;
}
