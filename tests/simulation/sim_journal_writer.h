/// The journal on the virtual clock: records become durable at a random later time, and are reported still later.
///
/// A crash before that loses them; a crash before the report leaves them stored and unreported. Both are drawn
/// by the seed. The bytes are written by the daemon's own Journal, on the disk that forgets.
/// Ownership: owned by the queue; borrows everything else. Threading: one thread.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/lifetime.h"
#include "base/random.h"
#include "store/journal/writer.h"
#include "store/sqlite/store.h"
#include "tests/simulation/fault_plan.h"
#include "tests/simulation/observed_store.h"
#include "tests/simulation/sim_network.h"
#include "tests/simulation/trace.h"

namespace relay::simulation {

class SimJournalWriter final : public store::JournalWriter {
 public:
  SimJournalWriter(VirtualLoop& loop, Random& random, const FaultPlan& faults, Trace& trace, store::Journal& journal,
                   ObservedStore& store, store::JournalListener& listener, store::Durability durability,
                   DeathFlag dead);

  void write(store::JournalRecord record) override;
  void stop() override {}

  /// `before` is called before the next records are written, `after` after them: the power is cut in between.
  void break_next(std::move_only_function<void()> before, std::move_only_function<void()> after) {
    before_ = std::move(before);
    after_ = std::move(after);
  }

  /// When it refused last.
  [[nodiscard]] SteadyTime refused_at() const { return refused_at_; }

 private:
  using Records = std::vector<store::JournalRecord>;

  void later(net::Task task);
  void work_soon();
  void work();
  Result<void> append(Records& records);

  VirtualLoop& loop_;
  Random& random_;
  const FaultPlan& faults_;
  Trace& trace_;
  store::Journal& journal_;
  ObservedStore& store_;
  store::JournalListener& listener_;
  store::Durability durability_;
  DeathFlag dead_;
  Records pending_;
  bool busy_ = false;
  SteadyTime refused_at_ = SteadyTime::min();
  std::move_only_function<void()> before_, after_;
  Lifetime lifetime_;
};

}  // namespace relay::simulation
