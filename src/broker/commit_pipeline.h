/// Changes gathered into one commit, what waits for it, and what becomes of both when it fails.
///
/// Why gathered: inputs that arrive together share one commit, and with it one sync of the disk.
/// Invariants: results arrive in the order of the changes. A failed commit fails everything that was gathered behind it. What the
///   broker stores for itself (PendingSave, its own messages, calls that wait until saved) is tried again in its old order,
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

/// What a commit means for messages and deliveries.
class CommitListener {
 public:
  virtual ~CommitListener() = default;
  virtual void on_send_committed(PendingSend& send) = 0;
  /// Not called for messages of the broker's own, which are tried again.
  virtual void on_send_failed(PendingSend& send, std::string_view why) = 0;
  /// A message of the broker's own is about to be stored again: recipients may be gone.
  virtual void before_retry(PendingSend& send) = 0;
  virtual void on_history_saved(const records::ChangeDelivery& entry, const ReceiptContext* context) = 0;
  /// Does a sender await receipts about the message?
  [[nodiscard]] virtual bool is_awaited(Key message) const = 0;
  virtual void on_store_recovered() = 0;
};

class CommitPipeline {
 public:
  CommitPipeline(Context& context, Streams& streams, CommitBudget& budget, CommitListener& listener)
      : context_{context}, streams_{streams}, budget_{budget}, listener_{listener} {}
  CommitPipeline(const CommitPipeline&) = delete;
  CommitPipeline& operator=(const CommitPipeline&) = delete;

  // What parts add.
  template <class Kind>
  void change(Kind&& change) {
    changes_.emplace_back(std::forward<Kind>(change));
  }
  template <class Kind, class... Args>
  void emplace_change(Args&&... args) {
    changes_.emplace_back(std::in_place_type<Kind>, std::forward<Args>(args)...);
  }
  /// A message whose changes were gathered just now.
  void add_send(PendingSend send) { pending_.emplace_back(next_ticket_, std::move(send)); }
  /// A change that is tried again until it is stored.
  void save_eventually(records::Change change, std::optional<ReceiptContext> receipt = {});
  /// Runs once the result of everything gathered so far is known; at once when nothing is pending.
  void when_committed(std::move_only_function<void(CommitResult)> done);
  /// Runs once everything gathered so far is stored, however many tries that takes.
  void when_saved(std::move_only_function<void()> done, records::CommitMode mode = records::CommitMode::Immediate);
  /// Runs `make`; the changes that it gathers are then saved eventually instead of once.
  template <class Make>
  void make_eventual(Make make);

  // The budget of senders.
  /// Bytes that were ever kept for storing eventually; a frame's sender is charged for its growth.
  [[nodiscard]] std::size_t remembered_bytes() const { return remembered_bytes_; }
  void add_remembered(std::size_t bytes) { remembered_bytes_ += bytes; }
  /// Ends the charge with the change that was gathered last; false when something else was gathered behind it.
  bool charge_with_last_save(ConnectionId connection, std::size_t bytes);

  // The batch.
  /// Closes the batch: whatever is requested of the store next comes after it.
  void flush();
  /// Does anything wait for the batch to be closed?
  [[nodiscard]] bool has_open_batch() const;
  [[nodiscard]] bool is_idle() const { return pending_.empty() && changes_.empty(); }
  /// Restoring is no change.
  void discard() { changes_.clear(); }

  // The store.
  [[nodiscard]] StoreHealth health() const { return health_; }
  [[nodiscard]] bool is_healthy() const { return health_ == StoreHealth::Healthy; }
  /// Why the last commit failed; empty: it succeeded.
  [[nodiscard]] const std::string& error() const { return error_; }
  /// Is nothing left of failed commits that must be stored again?
  [[nodiscard]] bool nothing_unsaved() const;
  void on_committed(records::CommitTicket up_to);
  void on_commit_failed(records::CommitTicket from, records::CommitTicket to, std::string_view why);
  void probe_store();
  /// While the store is failing, new changes fail at once.
  void fail_gathered();

 private:
  [[nodiscard]] records::CommitMode mode_of(records::CommitTicket ticket) const;
  void settle(Pending& pending, CommitResult result, std::string_view why);
  void settle_save(PendingSave& save, CommitResult result);
  void retry_unsaved();
  void on_recovered();

  Context& context_;
  Streams& streams_;
  CommitBudget& budget_;
  CommitListener& listener_;
  records::Changes changes_;  // of the open batch
  records::CommitTicket next_ticket_{1};
  VectorQueue<Pending, 1'024> pending_;
  std::vector<PendingWork> unsaved_;  // of failed commits, tried again; with what waits for that, in order
  std::size_t remembered_bytes_ = 0;
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
