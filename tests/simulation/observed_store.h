/// The daemon's store in the simulation: forwards every call, reports durable changes to the HistoryChecker, and fails
/// at times that the seed draws.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "store/message_store.h"
#include "tests/simulation/fault_plan.h"

namespace relay::simulation {

/// The changes of one group, in order.
using StoreChange = std::variant<records::Change, records::ExpireResult>;
using StoreChanges = std::vector<StoreChange>;

/// Receives what became durable on the daemon's disk.
class StoreObserver {
 public:
  virtual ~StoreObserver() = default;
  virtual void on_durable(const StoreChanges& group) = 0;
  /// The power was cut during the commit of this group.
  virtual void on_doubt(StoreChanges group) = 0;
};

class ObservedStore final : public store::MessageStore {
 public:
  ObservedStore(std::unique_ptr<store::MessageStore> real, StoreObserver& observer)
      : real_{std::move(real)}, observer_{observer} {}

  /// The journal has these changes: they are durable, and the store gets them in this order.
  void on_journaled(const records::Changes& changes);
  /// The power was cut while the journal wrote them.
  void on_journal_doubt(const records::Changes& changes) {
    observer_.on_doubt(StoreChanges{changes.begin(), changes.end()});
  }

  /// Fails the apply or commit that many calls from now.
  void fail_after(std::size_t calls) { fails_after_ = calls + 1; }
  /// A call failed since the last query of this flag.
  [[nodiscard]] bool failed() { return std::exchange(failed_, false); }
  /// `before` and `after` are called around the next commit that has something to write.
  void break_next_commit(std::move_only_function<void()> before, std::move_only_function<void()> after) {
    before_commit_ = std::move(before);
    after_commit_ = std::move(after);
  }

  Result<records::WorkspaceState> load() override { return real_->load(); }
  Result<void> begin(store::CommitDurability durability) override;
  Result<void> set_journal_position(store::JournalReach reach) override { return real_->set_journal_position(reach); }
  Result<void> apply(const records::Change& change) override;
  Result<void> commit() override;
  Result<records::EventSeq> newest_event() override { return real_->newest_event(); }
  void rollback() override;
  Result<records::BacklogPage> backlog(const records::BacklogRequest& request) override {
    return real_->backlog(request);
  }
  Result<records::ExpireResult> expire(const records::ExpireRequest& request) override;
  Result<bool> index_step(std::size_t rows) override { return real_->index_step(rows); }
  Result<bool> check_some(std::size_t bytes) override { return real_->check_some(bytes); }
  Result<store::Damage> keep_refused(const records::Change& change) override { return real_->keep_refused(change); }
  Result<bool> prune_step(const store::Retention& retention, WallMs now, std::size_t rows) override {
    return real_->prune_step(retention, now, rows);
  }
  Result<std::unique_ptr<store::MessageReader>> open_reader() override { return real_->open_reader(); }
  Result<std::vector<records::MessageRow>> messages(const records::MessageQuery& query) override {
    return real_->messages(query);
  }
  Result<records::Trace> trace(const std::string& id) override { return real_->trace(id); }
  Result<records::StoreStats> stats() override { return real_->stats(); }
  Result<records::HeldPage> held(const records::HeldRequest& request) override { return real_->held(request); }
  Result<std::vector<records::DeliveryRow>> deliveries(const records::DeliveryQuery& query) override {
    return real_->deliveries(query);
  }
  Result<records::EventPage> events(const records::EventQuery& query) override { return real_->events(query); }
  Result<std::vector<records::UsageSum>> usage(const records::UsageQuery& query) override {
    return real_->usage(query);
  }
  Result<records::SessionRow> session(const SessionId& id) override { return real_->session(id); }

 private:
  [[nodiscard]] bool fails_now() { return fails_after_ > 0 && --fails_after_ == 0; }
  Result<void> watched(Result<void> result);

  std::unique_ptr<store::MessageStore> real_;
  StoreObserver& observer_;
  StoreChanges group_;
  std::deque<std::string> journaled_;  // encoded: what the observer was notified of and the store does not have
  std::size_t journaled_in_group_ = 0;
  std::size_t fails_after_ = 0;
  bool failed_ = false;
  std::move_only_function<void()> before_commit_;
  std::move_only_function<void()> after_commit_;
};

}  // namespace relay::simulation
