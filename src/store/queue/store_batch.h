/// Requests that waited together, carried out as one commit, on the calling thread.
///
/// Invariants: nothing is said before the commit; first what was committed, then the answers in the order asked. When
///   one change contradicts the store, what came before it is still committed (one by one); it and every later change
///   fail, because a later change may build on an earlier one. When the disk is full or broken the whole batch fails.
/// Threading: whichever thread owns the store. ThreadedStoreQueue calls it on its writer, a simulation inline.
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

/// Something to tell the listener.
using Reply = std::move_only_function<void(StoreListener&)>;
using Replies = std::vector<Reply>;

/// What became of a batch, in the order it must be told: successes, the failure if there was one, other answers.
struct BatchOutcome {
  struct Failed {
    records::CommitTicket first, last;
    Error why;
  };
  Replies before;
  std::optional<Failed> failed;
  Replies after;
  Damage damage = {};  // what piecewise requests had refused; told among the replies
};

/// What they are worth as one group.
CommitDurability promise_of(std::span<const BatchRequest> requests);

/// The last place in the journal that one of them has; 0: none has.
JournalReach reached_by(std::span<const BatchRequest> requests);

BatchOutcome execute(MessageStore& store, const std::vector<BatchRequest>& requests);

/// One change in a group of its own. True: the store has it, also when it had it before. False: the store refuses it, and
/// `refusal` says why.
Result<bool> apply_alone(MessageStore& store, const records::Change& change, std::string& refusal,
                         CommitDurability promise = CommitDurability::ElseKept);

/// Answers for the pages and expiries among them: there are none, and why.
void add_failed_answers(Replies& replies, std::span<const BatchRequest> requests, const Error& why);

/// The same as one list.
Replies run_batch(MessageStore& store, const std::vector<BatchRequest>& requests);

/// One question, asked of the store or of a reader beside it.
Result<QueryResult> answer(MessageReader& reader, const Query& query);

/// About how much memory the changes hold while they wait.
std::size_t bytes_held(const records::Changes& changes);

}  // namespace relay::store
