#include "tests/simulation/sim_daemon.h"

#include <set>

#include "base/format.h"
#include "daemon/workspace_settings.h"
#include "store/journal/recovery.h"
#include "tests/simulation/sim_client.h"

namespace relay::simulation {
namespace {

constexpr Nanos kMaxRestart = milliseconds{500};

}  // namespace

SimDaemon::SimDaemon(DaemonPlan plan, VirtualLoop& loop, SimNetwork& network, Random& random, const FaultPlan& faults,
                     Trace& trace, HistoryChecker& checker)
    : plan_{std::move(plan)},
      loop_{loop},
      network_{network},
      random_{random},
      faults_{faults},
      trace_{trace},
      checker_{checker} {
  if (plan_.store == StoreKind::Memory)
    store_ = std::make_unique<ObservedStore>(std::make_unique<store::MemoryStore>(), checker_);
}

SimDaemon::~SimDaemon() {
  *dead_ = true;
  workspace_.reset();
  store_.reset();  // before its disk
}

void SimDaemon::open_store() {
  if (plan_.store == StoreKind::Memory) return;
  const store::SqliteOptions options{.path = "/home/messages.sqlite",
                                     .durability = plan_.durability,
                                     .vfs = disk_.vfs(),
                                     .sharing = store::Sharing::Exclusive,
                                     .now = loop_.now().wall};
  auto opened = store::SqliteStore::open(options);
  if (!opened) return checker_.violate("the store cannot be opened: " + opened.error().message());
  auto journal = store::recover_journal(**opened, options);
  if (!journal) return checker_.violate("the journal cannot be opened: " + journal.error().message());
  auto damage = (*opened)->damage();
  damage.add((*journal)->damage());
  plan_.options.info.damage = damage.message();
  plan_.options.info.lost_messages = damage.lost_messages;
  plan_.options.info.refused_changes = (*opened)->refused();
  if (damage.found()) notify_damage(**opened, damage);
  journal_ = *std::move(journal);
  store_ = std::make_unique<ObservedStore>(std::move(*opened), checker_);
}

/// As the daemon does it: what was found is an event, and in STATUS.
void SimDaemon::notify_damage(store::MessageStore& store, const store::Damage& damage) {
  if (!may_be_damaged_) return checker_.violate("damage is reported and nothing was damaged: " + damage.message());
  checker_.on_store_damage(damage);
  if (const auto done = daemon::record_damage(store, damage, loop_.now().wall); !done)
    return checker_.violate("the damage cannot be recorded: " + done.error().message());
  records::EventQuery query;
  query.after = store.newest_event().value() - 1;
  const auto page = store.events(query);
  if (!page || page->events.empty() || page->events.back().type != "relay.damaged")
    checker_.violate("there is no event of the damage");
}

std::unique_ptr<store::StoreQueue> SimDaemon::make_queue(store::StoreListener& listener) {
  const auto make_sim_queue = [this](store::StoreListener& results) {
    auto queue = std::make_unique<SimStoreQueue>(loop_, random_, faults_, trace_, *store_, results, dead_);
    queue_ = queue.get();
    return queue;
  };
  if (journal_ == nullptr) return make_sim_queue(listener);
  using Queue = store::JournaledStoreQueue;
  auto made = std::make_unique<Queue>(
      std::move(journal_),
      [this](store::Journal& journal, store::JournalListener& results, Queue::PostTask) {
        auto writer = std::make_unique<SimJournalWriter>(loop_, random_, faults_, trace_, journal, *store_, results,
                                                         plan_.durability, dead_);
        journal_writer_ = writer.get();
        return writer;
      },
      [&](Queue::PostTask, store::StoreListener& results) { return make_sim_queue(results); },
      [this, dead = dead_](Queue::Task task) {
        loop_.post([dead, task = std::move(task)]() mutable {
          if (!*dead) task();
        });
      },
      [this, dead = dead_](std::chrono::milliseconds delay, Queue::Task task) {
        loop_.call_after(delay, [dead, task = std::move(task)]() mutable {
          if (!*dead) task();
        });
      },
      listener);
  journaled_ = made.get();
  return made;
}

void SimDaemon::start() {
  if (running()) return;
  open_store();
  if (!store_) return;
  checker_.check_store(*store_);
  auto snapshot = store_->load();
  if (!snapshot) return checker_.violate("the store cannot be loaded: " + snapshot.error().message());
  trace_.line("the daemon starts");
  checker_.on_daemon_start();
  dead_ = std::make_shared<bool>(false);
  network_.set_server_process(dead_);
  workspace_ = std::make_unique<daemon::Workspace>(
      plan_.options, loop_, random_, [this](store::StoreListener& listener) { return make_queue(listener); },
      std::move(*snapshot), daemon::RosterSink{}, [this](const broker::Effect& effect) { on_effect(effect); });
  listener_ = network_.listen_as_server(kSocketPath, [this](auto stream) {
    if (running()) workspace_->accept(std::move(stream));
  });
}

bool SimDaemon::idle() const {
  if (!is_idle() || !queue_->idle()) return false;
  if (journaled_ == nullptr) return true;
  const auto refused = journal_writer_->refused_at();
  return journaled_->idle() && (refused == SteadyTime::min() || loop_.now().steady - refused > kRecovery);
}

void SimDaemon::on_effect(const broker::Effect& effect) {
  if (*dead_) return;
  if (dies_after_ > 0 && --dies_after_ == 0) return die("it is killed between two effects");
  if (const auto* send = std::get_if<broker::SendFrame>(&effect)) checker_.on_daemon_frame(send->to, send->frame);
  if (const auto* saved = std::get_if<broker::Persist>(&effect)) {
    checker_.on_daemon_commit(saved->changes);
    check_broadcasts(saved->changes);
  }
  if (const auto* note = std::get_if<broker::WriteLog>(&effect)) trace_.line("daemon: {}", note->text);
}

void SimDaemon::check_broadcasts(const records::Changes& changes) {
  for (const auto& change : changes) {
    const auto* added = std::get_if<records::AddMessage>(&change);
    if (!added || added->message.to != "*" || !added->message.topic.value().empty() || !workspace_) continue;
    std::set<std::string> audience;
    for (const auto& other : changes)
      if (const auto* delivery = std::get_if<records::AddDelivery>(&other);
          delivery && delivery->delivery.message == added->message.key)
        audience.insert(delivery->delivery.to.value());
    std::set<std::string> connected;
    for (const auto& entry : workspace_->roster())
      if (entry.connected) connected.insert(entry.agent.name.value());
    for (const auto& name : ready_())
      if (name != added->message.from.value() && connected.contains(name) && !audience.contains(name))
        checker_.violate_unless_damaged(
            format("{} is connected and is no recipient of a broadcast of {}", name, added->message.from.value()));
  }
}

void SimDaemon::die_after(std::uint64_t effects) {
  if (!running()) return;
  if (effects == 0)
    die("it is killed");
  else
    dies_after_ = effects;
}

void SimDaemon::die_in_commit() {
  if (plan_.store == StoreKind::Memory || !running()) return die_after(0);
  const auto before = [this] { disk_.fail_next_syncs(1); };
  const auto after = [this] {
    disk_.fail_next_syncs(0);  // in case this commit needed no sync
    die("a power cut inside a commit");
  };
  if (random_.below(2) == 0)
    journal_writer_->break_next(before, after);
  else
    store_->break_next_commit(before, after);
}

void SimDaemon::prune_unused_names() {
  if (!running()) return;
  trace_.line("the daemon prunes unused names");
  workspace_->prune_unused_names(loop_.now().wall + 1);
}

void SimDaemon::shut_down() {
  if (!running()) return;
  trace_.line("the daemon shuts down");
  listener_.reset();
  workspace_->shut_down([this, dead = dead_] {
    loop_.post([this, dead] {
      if (dead == dead_ && !*dead_) die("it has shut down");
    });
  });
}

void SimDaemon::die(const char* how) {
  if (*dead_) return;
  *dead_ = true;
  dies_after_ = 0;
  ++deaths_;
  trace_.line("the daemon dies: {}", how);
  network_.server_died();
  loop_.post([this] { destroy_and_restart(); });  // its code may still be on the stack
}

void SimDaemon::destroy_and_restart() {
  workspace_.reset();
  listener_.reset();
  if (plan_.store == StoreKind::Sqlite) {
    // After a power cut the mark of the journal may be behind: damage to its last commits looks like a torn write then.
    may_be_damaged_ = plan_.damages && random_.below(2) == 0;
    if (plan_.durability == store::Durability::Power && !may_be_damaged_)
      disk_.crash(random_);
    else
      disk_.kill();
    store_.reset();
    if (may_be_damaged_) {
      checker_.on_disk_damage(disk_.damage(random_));
      ++damages_;
    }
  }
  const auto delay = Nanos{random_.below(static_cast<std::uint64_t>(kMaxRestart.count()) + 1)};
  loop_.call_after(delay, [this] { start(); });
}

}  // namespace relay::simulation
