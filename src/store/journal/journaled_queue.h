/// A store behind a journal: a commit is safe once it is appended, and the store hears of it a moment later.
///
/// Why: whoever waits for a commit waits for one append (and, if the power may go, one sync), not for the pages of a
///   database; and what the store is told comes many commits at a time, most of which are over by then.
/// What the store decides itself does not go this way: what it may refuse (a delivery of a message that is not in the
///   same commit), and what has run out of time. It is carried out by the store first, and so is everything behind it
///   until the store has answered; so the journal and the store never know of two orders.
/// Invariants: commits are told in order, after the journal has them; a question sees everything asked before it; what the
///   store could not take stays in the journal and is given to it again before anything new; at most kMaxLagBytes are
///   in memory, told and not yet in the store: beyond that, commits are told at the store's pace.
/// Ownership: owns the queue behind it, the journal and its writer; borrows the listener, which outlives it.
/// Threading: loop thread only; the queue behind it and the writer may have threads of their own.
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
  using Post = std::function<void(Task)>;  // runs a task later on the loop thread; any thread may call it
  using Wait = std::function<void(std::chrono::milliseconds, Task)>;  // runs it after that time; loop thread only
  using MakeQueue = std::function<std::unique_ptr<BackingQueue>(Post, StoreListener&)>;
  using MakeWriter = std::function<std::unique_ptr<JournalWriter>(Journal&, JournalListener&, Post)>;

  JournaledStoreQueue(std::unique_ptr<Journal> journal, const MakeWriter& make_writer, const MakeQueue& make_queue,
                      const Post& post, Wait wait, StoreListener& listener);
  /// Everything that was asked is carried out; what it came to is told to nobody any more.
  ~JournaledStoreQueue() override;

  void persist(records::CommitTicket ticket, records::Changes changes,
               records::CommitMode haste = records::CommitMode::Now) override;
  void load_backlog(records::BacklogRequest request) override;
  void expire(records::ExpireRequest request) override;
  void query(QueryId id, Query query) override;
  void prune(Retention retention, WallMs now) override;

  /// Everything that was asked is carried out, and told.
  [[nodiscard]] bool idle() const;

 private:
  /// What goes into the journal as one record.
  using Batch = std::vector<PersistRequest>;
  /// Something for the queue behind us, in its turn.
  using Forward = std::move_only_function<void(BackingQueue&)>;
  /// Told, and not yet known to be in the store.
  struct Unapplied {
    records::CommitTicket ticket;
    JournalReach place;
    std::size_t bytes = 0;
    CommitDurability promise{};
    bool piecewise = false;  // the store refused it as a whole
  };

  /// Commits that did not get into the journal, and are not told of yet.
  struct Refused {
    records::CommitTicket first, last;
    Error why;
  };
  /// An answer that came before it is known whether it is good.
  struct EarlyResult {
    QueryId id;
    CommitNumber sees = 0;  // all up to here, if it is
    Result<QueryResult> answer;
  };

  void flush_soon();
  void flush();
  void forward(std::variant<PersistRequest, Forward> work);
  void execute(PersistRequest direct);
  void advance();
  void settle(Batch batch);
  Result<void> reapply();
  void tell();

  // What the writer tells.
  void on_written(std::size_t records) override;
  void on_write_failed(const Error& why) override;
  // What the queue behind us tells.
  void on_committed(records::CommitTicket up_to, records::EventSeq newest) override;
  void on_commit_failed(records::CommitTicket from, records::CommitTicket to, const Error& why) override;
  void try_again_later();
  void mark_later();
  void send_results();
  void on_backlog(Result<records::BacklogPage> page, const records::BacklogRequest& asked) override;
  void on_expired(Result<records::ExpireResult> result) override;
  void on_answer(QueryId id, Result<QueryResult> answer) override;
  void on_damage(const Damage& damage) override;
  void notify_damage(const Error& error);

  Lifetime lifetime_;
  StoreListener& listener_;
  Post post_;
  Wait wait_;
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<BackingQueue> backing_;
  std::unique_ptr<JournalWriter> writer_;

  Batch gathered_;        // in this turn
  JournalRecord record_;  // of those
  bool flush_comes_ = false;
  bool flushing_ = false;  // inside a call: nobody may be told now
  bool ended_ = false;
  std::deque<std::variant<Batch, PersistRequest, Forward>> pipeline_;  // what the writer has, and what waits behind it
  std::size_t written_ = 0;                                            // batches of those, from the front
  std::deque<Unapplied> unapplied_;
  std::size_t unapplied_bytes_ = 0;
  const CommitNumber began_after_;                    // in this life
  JournalReach journaled_;                            // the newest that the journal has, or was told to pass
  JournalReach given_;                                // the newest that the queue behind us was given
  CommitNumber sealed_ = 0;                           // the last segment whose beginning was asked to be kept for good
  std::optional<records::CommitTicket> last_direct_;  // went past the journal and is not answered
  std::deque<Unapplied> direct_;                      // of those, what the queue behind us was given
  std::size_t open_expiries_ = 0;
  std::optional<records::CommitTicket> untold_;  // safe
  bool unmarked_ = false;                        // and the journal could not mark it: until then nothing is told
  std::optional<Refused> refused_;
  bool damage_told_ = false;  // of the journal itself
  bool stuck_ = false;        // the store could not take what is in the journal
  bool unsure_ = false;  // the store refused a commit, and a crash may show it all the same, until another is over it
  std::optional<Error> error_;                           // why, until it takes something again
  std::unordered_map<QueryId, CommitNumber> questions_;  // what each must see
  std::vector<EarlyResult> early_;
  records::EventSeq newest_event_ = 0;
};

}  // namespace relay::store
