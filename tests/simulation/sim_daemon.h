/// The daemon of the simulation: the real Workspace and Broker, restarted from the store after each death.
///
/// It can die at any effect: from that effect on, nothing this process does reaches the network or the disk, although
/// its code runs to the end of the turn. Then it is destroyed and a new one loads the store.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daemon/workspace.h"
#include "store/journal/journaled_queue.h"
#include "store/memory/store.h"
#include "store/sqlite/store.h"
#include "store/testing/sim_disk.h"
#include "tests/simulation/history_checker.h"
#include "tests/simulation/sim_journal_writer.h"
#include "tests/simulation/sim_network.h"
#include "tests/simulation/sim_store_queue.h"

namespace relay::simulation {

enum class StoreKind { Memory, Sqlite };

struct DaemonPlan {
  daemon::WorkspaceOptions options;
  StoreKind store = StoreKind::Memory;
  store::Durability durability = store::Durability::Power;
  bool damages = false;  // now and then the disk damages a file while the daemon is down
};

class SimDaemon {
 public:
  SimDaemon(DaemonPlan plan, VirtualLoop& loop, SimNetwork& network, Random& random, const FaultPlan& faults,
            Trace& trace, HistoryChecker& checker);
  ~SimDaemon();

  void start();
  /// Kills it at the effect that many effects from now; 0 is now.
  void die_after(std::uint64_t effects);
  /// Shuts down cleanly.
  void shut_down();
  /// Cuts the power inside the next commit (SQLite only; otherwise it dies now).
  void die_in_commit();
  /// Removes every agent that is not in use, however new.
  void prune_unused_names();
  /// Supplies the clients that are connected: each one that the daemon lists as connected must get a broadcast.
  void set_ready_clients(std::function<std::vector<std::string>()> ready) { ready_ = std::move(ready); }

  [[nodiscard]] bool running() const { return workspace_ != nullptr && !*dead_; }
  [[nodiscard]] bool is_idle() const { return running() && workspace_->is_idle(); }
  /// The daemon has nothing to do at this moment. Then every pending delivery must have a next step.
  [[nodiscard]] bool idle() const;
  void check_pending() { checker_.check_pending(workspace_->roster()); }
  [[nodiscard]] std::size_t max_queued_bytes() const { return plan_.options.limits.max_queued_bytes; }
  [[nodiscard]] store::MessageStore& store() { return *store_; }
  [[nodiscard]] std::uint64_t deaths() const { return deaths_; }
  [[nodiscard]] std::uint64_t damages() const { return damages_; }

 private:
  void open_store();
  void notify_damage(store::MessageStore& store, const store::Damage& damage);
  std::unique_ptr<store::StoreQueue> make_queue(store::StoreListener& listener);
  void on_effect(const broker::Effect& effect);
  void check_broadcasts(const records::Changes& changes);
  void die(const char* how);
  void destroy_and_restart();

  DaemonPlan plan_;
  VirtualLoop& loop_;
  SimNetwork& network_;
  Random& random_;
  const FaultPlan& faults_;
  Trace& trace_;
  HistoryChecker& checker_;

  store::SimDisk disk_;
  std::unique_ptr<ObservedStore> store_;

  DeathFlag dead_ = std::make_shared<bool>(true);
  std::uint64_t dies_after_ = 0;  // effects; 0: not planned
  std::uint64_t deaths_ = 0;
  std::uint64_t damages_ = 0;    // of files
  bool may_be_damaged_ = false;  // the files, since the last opening
  std::function<std::vector<std::string>()> ready_;
  std::unique_ptr<store::Journal> journal_;          // until the workspace has it
  SimStoreQueue* queue_ = nullptr;                   // the workspace's
  store::JournaledStoreQueue* journaled_ = nullptr;  // before it, where the store is durable
  SimJournalWriter* journal_writer_ = nullptr;       // the journal's
  std::unique_ptr<daemon::Workspace> workspace_;
  std::unique_ptr<net::Listener> listener_;
};

}  // namespace relay::simulation
