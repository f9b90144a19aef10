/// Collects changes into commits and completes the work that depends on them; retries the broker's own changes.
///
/// Why collected: inputs that arrive together share one commit, and with it one sync of the disk.
/// Invariants: results arrive in the order of the changes. A failed commit fails everything that was collected after
///   it. The broker's own changes (PendingSave, its own messages, `when_saved` calls) are retried in their old order,
///   before newer changes.
/// Ownership: borrows context, streams, budget and listener, which outlive it. Threading: the broker's.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/commit_budget.h"
#include "broker/context.h"
#include "broker/pending.h"
#include "broker/streams.h"
#include "broker/vector_queue.h"

namespace relay::broker {

/// Handles the results of commits for messages and deliveries.
class CommitListener {
 public:
  virtual ~CommitListener() = default;
  virtual void on_send_committed(PendingSend& send) = 0;
  /// Not called for the broker's own messages, which are retried.
  virtual void on_send_failed(PendingSend& send, std::string_view why) = 0;
  /// One of the broker's own messages is about to be retried: recipients may have been removed.
  virtual void before_retry(PendingSend& send) = 0;
  virtual void on_history_saved(const records::ChangeDelivery& entry, const ReceiptContext* context) = 0;
  /// True if a sender awaits receipts about the message.
  [[nodiscard]] virtual bool is_awaited(Key message) const = 0;
  virtual void on_store_recovered() = 0;
};

class CommitPipeline {
 public:
  CommitPipeline(Context& context, Streams& streams, CommitBudget& budget, CommitListener& listener)
      : context_{context}, streams_{streams}, budget_{budget}, listener_{listener} {}
  CommitPipeline(const CommitPipeline&) = delete;
  CommitPipeline& operator=(const CommitPipeline&) = delete;

  // The changes of the parts.
  template <class Kind>
  void change(Kind&& change) {
    changes_.emplace_back(std::forward<Kind>(change));
  }
  template <class Kind, class... Args>
  void emplace_change(Args&&... args) {
    changes_.emplace_back(std::in_place_type<Kind>, std::forward<Args>(args)...);
  }
  /// A message whose changes were collected just now.
  void add_send(PendingSend send) { pending_.emplace_back(next_ticket_, std::move(send)); }
  /// A change that is retried until it is stored.
  void save_eventually(records::Change change, std::optional<ReceiptContext> receipt = {});
  /// Runs once everything collected so far is committed or has failed; at once when nothing is pending.
  void when_committed(std::move_only_function<void(CommitResult)> done);
  /// Runs once everything collected so far is stored, after any number of retries.
  void when_saved(std::move_only_function<void()> done, records::CommitMode mode = records::CommitMode::Immediate);
  /// Runs `make`; the changes that it adds are retried until they are stored.
  template <class Make>
  void make_eventual(Make make);

  // The budget of senders.
  /// Total bytes of the changes that are retried; the sender of a frame is charged for the growth that it causes.
  [[nodiscard]] std::size_t retried_bytes() const { return retried_bytes_; }
  void add_retried_bytes(std::size_t bytes) { retried_bytes_ += bytes; }
  /// The charge ends when the last collected change is stored; false if the last collected change is not a retried one.
  bool charge_with_last_save(ConnectionId connection, std::size_t bytes);

  // The batch.
  /// Closes the batch and emits its commit: later requests to the store see it.
  void flush();
  /// True if the open batch has changes to commit.
  [[nodiscard]] bool has_open_batch() const;
  [[nodiscard]] bool is_idle() const { return pending_.empty() && changes_.empty(); }
  /// Drops the changes that restoring has added.
  void discard() { changes_.clear(); }

  // The store.
  [[nodiscard]] StoreHealth health() const { return health_; }
  [[nodiscard]] bool is_healthy() const { return health_ == StoreHealth::Healthy; }
  /// Why the last commit failed; empty: it succeeded.
  [[nodiscard]] const std::string& error() const { return error_; }
  /// True if no change of a failed commit must be retried.
  [[nodiscard]] bool is_everything_saved() const;
  void on_committed(records::CommitTicket up_to);
  void on_commit_failed(records::CommitTicket from, records::CommitTicket to, std::string_view why);
  void probe_store();
  /// While the store is failing, new changes fail at once.
  void fail_open_batch();

 private:
  [[nodiscard]] records::CommitMode mode_of(records::CommitTicket ticket) const;
  void complete(Pending& pending, CommitResult result, std::string_view why);
  void complete_save(PendingSave& save, CommitResult result);
  void retry_unsaved();
  void on_recovered();

  Context& context_;
  Streams& streams_;
  CommitBudget& budget_;
  CommitListener& listener_;
  records::Changes changes_;  // of the open batch
  records::CommitTicket next_ticket_{1};
  VectorQueue<Pending, 1'024> pending_;
  std::vector<PendingWork> unsaved_;  // of failed commits, in order; retried
  std::size_t retried_bytes_ = 0;
  StoreHealth health_ = StoreHealth::Healthy;
  std::string error_;
};

template <class Make>
void CommitPipeline::make_eventual(Make make) {
  const auto before = static_cast<std::ptrdiff_t>(changes_.size());
  make();
  records::Changes made{std::make_move_iterator(changes_.begin() + before), std::make_move_iterator(changes_.end())};
  changes_.erase(changes_.begin() + before, changes_.end());
  for (auto& each : made) save_eventually(std::move(each));
}

}  // namespace relay::broker
