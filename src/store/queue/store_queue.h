/// The store as the loop thread sees it: requests are queued and their results arrive later, in the order of the
/// requests.
///
/// The caller numbers its commits (CommitTicket). Queued writes share one commit (group commit: the sync itself paces
///   the batches, no timer). The result of a backlog page or an expiry follows the commit of every earlier request.
///   Queries run on a reader beside the writer, but after the commit of every earlier request.
/// A piggyback write joins the next immediate commit, or commits alone after commit_delay.
/// After a commit fails, every later commit requested before the broker learns of the failure fails too: a later change
///   may build on an earlier one (outbox numbers do). Pages and expiries requested meanwhile fail too.
/// Threading: all calls and all results on the loop thread. Ownership: borrows the listener, which outlives it.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "records/changes.h"
#include "records/store_query.h"
#include "store/damage.h"
#include "store/message_store.h"

namespace relay::store {

/// Identifies one open query of a caller; the broker has an id type of its own (broker/effects.h).
using QueryId = Named<std::uint64_t, struct QueryIdTag>;

using Query = records::StoreQuery;
using QueryResult = records::StoreResult;

class StoreListener {
 public:
  virtual ~StoreListener() = default;
  /// Every ticket up to this one is committed; `newest` is the sequence number of the last event.
  virtual void on_committed(records::CommitTicket up_to, records::EventSeq newest) = 0;
  /// The store now has events up to this number; they belong to commits reported earlier.
  virtual void on_events(records::EventSeq) {}
  virtual void on_commit_failed(records::CommitTicket from, records::CommitTicket to, const Error& error) = 0;
  virtual void on_backlog(Result<records::BacklogPage> page, const records::BacklogRequest& request) = 0;
  virtual void on_expired(Result<records::ExpireResult> result) = 0;
  virtual void on_query_result(QueryId id, Result<QueryResult> result) = 0;
  /// Damage found after the store was opened.
  virtual void on_damage(const Damage&) {}
};

struct PersistRequest {
  records::CommitTicket ticket;
  records::Changes changes;
  JournalReach journal_position = {};  // of a commit that the journal has; 0: no journal has it
  CommitDurability durability = CommitDurability::Full;
  bool piecewise = false;  // change by change; one that contradicts the store is kept in `-refused`
};

class StoreQueue {
 public:
  virtual ~StoreQueue() = default;
  virtual void persist(records::CommitTicket ticket, records::Changes changes, records::CommitMode mode) = 0;
  virtual void load_backlog(records::BacklogRequest request) = 0;
  virtual void expire(records::ExpireRequest request) = 0;
  virtual void query(QueryId id, Query query) = 0;
  /// One round of retention, in bounded steps between commits.
  virtual void prune(Retention retention, WallMs now) = 0;
};

/// A queue that can run behind a journal.
class BackingQueue : public StoreQueue {
 public:
  /// Like persist, but the journal has these requests, so they may wait for others.
  virtual void apply(std::vector<PersistRequest> requests) = 0;
  /// The newest journaled commit that the store has with full durability. Any thread.
  [[nodiscard]] virtual CommitNumber durable_position() const = 0;
  /// Executes and reports every queued request; later requests are dropped.
  virtual void stop() = 0;
};

}  // namespace relay::store
