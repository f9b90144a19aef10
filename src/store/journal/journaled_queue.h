/// A store behind a journal: a commit is reported once the journal has it, and the store applies it a moment later.
///
/// Why: a commit costs one append (and, in mode `power`, one sync) instead of writes to the pages of a database; and
///   the store applies many commits in one transaction, when most of their deliveries are already settled.
/// Direct commits: commits whose outcome the store decides bypass the journal. These are commits it may refuse (a
///   delivery of a message that is not in the same commit) and expiries. The store executes them first, and also every
///   commit behind them until it has replied; so the journal and the store have one order of commits.
/// Invariants: commits are reported in order, after the journal has them; a query sees everything requested before it;
///   a commit that the store cannot apply stays in the journal and is applied before anything new; at most kMaxLagBytes
///   of reported commits stay in memory for the store: beyond that, commits are reported at the store's pace.
/// Ownership: owns the backing queue, the journal and its writer; borrows the listener, which outlives it.
/// Threading: loop thread only; the backing queue and the writer may have their own threads.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/lifetime.h"
#include "store/journal/journal.h"
#include "store/journal/writer.h"
#include "store/queue/store_queue.h"

namespace relay::store {

class JournaledStoreQueue final : public StoreQueue, private StoreListener, private JournalListener {
 public:
  static constexpr std::size_t kMaxLagBytes = std::size_t{16} << 20;

  using Task = std::move_only_function<void()>;
  using PostTask = std::function<void(Task)>;  // runs a task later on the loop thread; any thread may call it
  using PostDelayedTask = std::function<void(std::chrono::milliseconds, Task)>;  // loop thread only
  using MakeQueue = std::function<std::unique_ptr<BackingQueue>(PostTask, StoreListener&)>;
  using MakeWriter = std::function<std::unique_ptr<JournalWriter>(Journal&, JournalListener&, PostTask)>;

  JournaledStoreQueue(std::unique_ptr<Journal> journal, const MakeWriter& make_writer, const MakeQueue& make_queue,
                      const PostTask& post, PostDelayedTask post_delayed, StoreListener& listener);
  /// Executes every earlier request, without reports.
  ~JournaledStoreQueue() override;

  void persist(records::CommitTicket ticket, records::Changes changes,
               records::CommitMode mode = records::CommitMode::Immediate) override;
  void load_backlog(records::BacklogRequest request) override;
  void expire(records::ExpireRequest request) override;
  void query(QueryId id, Query query) override;
  void prune(Retention retention, WallMs now) override;

  /// Every request is executed and reported.
  [[nodiscard]] bool idle() const;

 private:
  /// The commits of one journal record.
  using Batch = std::vector<PersistRequest>;
  /// A call to the backing queue, in order with the commits.
  using Forward = std::move_only_function<void(BackingQueue&)>;
  /// A reported commit that the store has not confirmed yet.
  struct UnappliedCommit {
    records::CommitTicket ticket;
    JournalReach reach;
    std::size_t bytes = 0;
    CommitDurability durability{};
    bool piecewise = false;  // the store refused it as a whole: its changes are applied one by one
  };

  /// Commits that failed and are not reported yet.
  struct UnreportedFailure {
    records::CommitTicket first, last;
    Error error;
  };
  /// A query result that may lack commits: the store had not confirmed them when it arrived.
  struct EarlyResult {
    QueryId id;
    CommitNumber required = 0;  // the commits it must include
    Result<QueryResult> result;
  };

  void flush_soon();
  void flush();
  void forward(std::variant<PersistRequest, Forward> work);
  void execute(PersistRequest direct);
  void advance();
  void on_journaled(Batch batch);
  Result<void> reapply();
  void notify();

  // From the journal writer.
  void on_written(std::size_t records) override;
  void on_write_failed(const Error& error) override;
  // From the backing queue.
  void on_committed(records::CommitTicket up_to, records::EventSeq newest) override;
  void on_commit_failed(records::CommitTicket from, records::CommitTicket to, const Error& error) override;
  void retry_later();
  void mark_later();
  void send_results();
  void on_backlog(Result<records::BacklogPage> page, const records::BacklogRequest& request) override;
  void on_expired(Result<records::ExpireResult> result) override;
  void on_query_result(QueryId id, Result<QueryResult> result) override;
  void on_damage(const Damage& damage) override;
  void notify_damage(const Error& error);

  Lifetime lifetime_;
  StoreListener& listener_;
  PostTask post_;
  PostDelayedTask post_delayed_;
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<BackingQueue> backing_;
  std::unique_ptr<JournalWriter> writer_;

  Batch batch_;           // the commits of this turn of the loop
  JournalRecord record_;  // the same, encoded
  bool flush_scheduled_ = false;
  bool flushing_ = false;  // inside write(): the listener must not be called
  bool stopped_ = false;
  std::deque<std::variant<Batch, PersistRequest, Forward>> pipeline_;  // the writer's batches, and what follows them
  std::size_t written_ = 0;                                            // batches at the front that the journal has
  std::deque<UnappliedCommit> unapplied_;
  std::size_t unapplied_bytes_ = 0;
  const CommitNumber started_after_;  // the newest commit at construction
  JournalReach journaled_;            // the newest commit that the journal has or skipped to
  JournalReach forwarded_;            // the newest commit that the backing queue got
  CommitNumber sealed_ = 0;           // the newest segment (its first commit) with a full commit behind it
  std::optional<records::CommitTicket> last_direct_;  // the newest direct commit without an outcome
  std::deque<UnappliedCommit> direct_;                // direct commits that the backing queue got
  std::size_t open_expiries_ = 0;
  std::optional<records::CommitTicket> unreported_;  // the journal has commits up to here; not reported yet
  bool unmarked_ = false;  // the journal could not write its mark: nothing is reported until it can
  std::optional<UnreportedFailure> failure_;
  bool damage_reported_ = false;  // of the journal itself
  bool stuck_ = false;            // the store could not apply journaled commits
  bool unsure_ = false;           // a failed direct commit may exist after a crash; until the next commit
  std::optional<Error> error_;    // of the store, until its next commit
  std::unordered_map<QueryId, CommitNumber> open_queries_;  // the commits that each must include
  std::vector<EarlyResult> early_results_;
  records::EventSeq newest_event_ = 0;
};

}  // namespace relay::store
