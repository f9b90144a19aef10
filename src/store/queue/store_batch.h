/// Executes queued requests as one commit, on the calling thread.
///
/// Invariants: no reply exists before the commit; the replies are first the commit, then the results in the order of
///   the requests. When one change contradicts the store, the requests before it are still committed (one by one); it
///   and every later change fail, because a later change may build on an earlier one. When the disk is full or broken
///   the whole batch fails.
/// Threading: the thread that owns the store. ThreadedStoreQueue calls it on its writer, a simulation inline.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "store/message_store.h"
#include "store/queue/store_queue.h"

namespace relay::store {

using BatchRequest = std::variant<PersistRequest, records::BacklogRequest, records::ExpireRequest>;

/// A call of the listener.
using Reply = std::move_only_function<void(StoreListener&)>;
using Replies = std::vector<Reply>;

/// The outcome of a batch, in the order of its report: successes, the failure if there was one, the other results.
struct BatchOutcome {
  struct FailedRange {
    records::CommitTicket first, last;
    Error error;
  };
  Replies before;
  std::optional<FailedRange> failed;
  Replies after;
  Damage damage = {};  // refused changes of piecewise requests; reported among the replies
};

/// The durability that the requests need as one group.
CommitDurability durability_of(std::span<const BatchRequest> requests);

/// The newest journal position of the requests; 0: none has one.
JournalReach journal_reach_of(std::span<const BatchRequest> requests);

BatchOutcome execute(MessageStore& store, const std::vector<BatchRequest>& requests);

/// Applies one change in a separate group. True: the store has it, possibly from before. False: the store refuses it
/// for the reason in `refusal`.
Result<bool> apply_separately(MessageStore& store, const records::Change& change, std::string& refusal,
                              CommitDurability durability = CommitDurability::CoveredByJournal);

/// Adds failed results for the pages and expiries among the requests.
void add_failed_replies(Replies& replies, std::span<const BatchRequest> requests, const Error& error);

/// Executes the requests and returns the whole report as one list.
Replies run_batch(MessageStore& store, const std::vector<BatchRequest>& requests);

/// Runs one query on the store or on a reader beside it.
Result<QueryResult> run_query(MessageReader& reader, const Query& query);

/// About how much memory the changes hold.
std::size_t bytes_held(const records::Changes& changes);

}  // namespace relay::store
