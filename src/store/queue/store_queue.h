/// The store as the loop thread sees it: ask now, hear later, in the order asked.
///
/// Requests are numbered by their place in one queue. Writes that wait together share one commit (group commit: the
/// sync itself clocks the batches, no timer). A backlog page or an expiry is answered after the commit of everything
/// asked before it. Queries run on a reader beside the writer, but not before what was asked earlier is committed.
/// What nobody waits for is committed with the next that somebody does, or soon by itself.
/// When a commit fails, everything persisted before that failure was reported fails too: a later change may build on
/// an earlier one (outbox numbers do), so nothing may jump over a hole. So do pages and expiries asked meanwhile.
/// Threading: all calls and all answers on the loop thread. Ownership: borrows the listener, which outlives it.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "records/changes.h"
#include "records/queries.h"
#include "store/damage.h"
#include "store/message_store.h"

namespace relay::store {

/// Names one question among those that are open.
using QueryId = Named<std::uint64_t, struct QueryIdTag>;

struct TraceQuery {
  std::string id;
};
struct StatsQuery {};
struct SessionQuery {
  SessionId id;
};
using Query = std::variant<records::MessageQuery, TraceQuery, StatsQuery, records::HeldRequest, records::DeadQuery,
                           records::EventQuery, records::UsageQuery, SessionQuery>;
using QueryResult = std::variant<std::vector<records::MessageRow>, records::Trace, records::StoreStats,
                                 records::HeldPage, std::vector<records::DeadLetter>, records::EventPage,
                                 std::vector<records::UsageSum>, records::SessionRow>;

class StoreListener {
 public:
  virtual ~StoreListener() = default;
  /// Every ticket so far up to this one; `newest` is the number of the last event there is.
  virtual void on_committed(records::CommitTicket up_to, records::EventSeq newest) = 0;
  /// There are events up to this number, of what was committed earlier.
  virtual void on_events(records::EventSeq) {}
  virtual void on_commit_failed(records::CommitTicket from, records::CommitTicket to, const Error& why) = 0;
  virtual void on_backlog(Result<records::BacklogPage> page, const records::BacklogRequest& asked) = 0;
  virtual void on_expired(Result<records::ExpireResult> result) = 0;
  virtual void on_answer(QueryId id, Result<QueryResult> answer) = 0;
  /// Damage that was found after the store was opened.
  virtual void on_damage(const Damage&) {}
};

struct PersistRequest {
  records::CommitTicket ticket;
  records::Changes changes;
  JournalReach journalled = {};  // its place in the journal, which has it; 0: none has
  CommitDurability promise = CommitDurability::Kept;
  bool piecewise = false;  // change by change; one that contradicts the store is kept aside instead of refusing it all
};

class StoreQueue {
 public:
  virtual ~StoreQueue() = default;
  virtual void persist(records::CommitTicket ticket, records::Changes changes, records::CommitMode haste) = 0;
  virtual void load_backlog(records::BacklogRequest request) = 0;
  virtual void expire(records::ExpireRequest request) = 0;
  virtual void query(QueryId id, Query query) = 0;
  /// One round of retention, in bounded steps between commits.
  virtual void prune(Retention retention, WallMs now) = 0;
};

/// A queue that may stand behind a journal.
class BackingQueue : public StoreQueue {
 public:
  /// Like persist, but what a journal has is safe already and is carried out when it suits.
  virtual void apply(std::vector<PersistRequest> requests) = 0;
  /// What its store has of the journal for good, as its durability says; any thread.
  [[nodiscard]] virtual CommitNumber durable_position() const = 0;
  /// Carries out and answers everything that was asked; later requests are dropped.
  virtual void stop() = 0;
};

}  // namespace relay::store
