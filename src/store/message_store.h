/// The store as one thread sees it: apply changes in a group, commit them together, run queries.
///
/// Why an interface: memory and SQLite (PostgreSQL later) pass one suite (message_store_suite.h); replacing one by
///   another changes only the cost.
/// Invariants: nothing applied is visible after a crash unless commit() returned; after a failed commit() or apply()
///   the group is rolled back and the store is usable again; keys only grow.
/// Threading: one thread at a time; the loop thread uses StoreQueue.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "records/changes.h"
#include "records/queries.h"
#include "store/damage.h"

namespace relay::store {

enum class Errc {
  Damaged,    // the file differs from what the store wrote
  Full,       // no space left
  ReadOnly,   // the directory or file does not allow writing
  Newer,      // made by a later version of this program
  Failed,     // any other I/O or SQLite error
  BadChange,  // the change contradicts what is stored; the store itself is sound
};
std::string_view describe(Errc code);

/// The number of a commit in the journal; 0: before the first.
using CommitNumber = std::uint64_t;

/// A position in the journal: the commits up to it, and the messages in those commits.
struct JournalReach {
  CommitNumber commits = 0;
  std::uint64_t messages = 0;
};

/// How many of these changes add a message.
std::uint32_t messages_in(const records::Changes& changes);

/// What a committed group survives.
enum class CommitDurability {
  Full,              // everything that the store's durability promises
  CoveredByJournal,  // the journal has it; after a power cut the store may lack it and all groups after it
};

/// The limits of retention. It never removes a delivery that is not final, nor the message of one.
struct Retention {
  std::int64_t max_age_ms = 0;        // 0: no limit by age
  std::uint64_t max_bytes = 0;        // 0: no limit by size
  std::int64_t max_event_age_ms = 0;  // of the log of events; 0: no limit
};

/// The reading half. A reader from `open_reader` may be used on another thread while the writer works.
class MessageReader {
 public:
  virtual ~MessageReader() = default;
  virtual Result<std::vector<records::MessageRow>> messages(const records::MessageQuery& query) = 0;
  virtual Result<records::Trace> trace(const std::string& id_or_prefix) = 0;
  virtual Result<records::StoreStats> stats() = 0;
  virtual Result<records::HeldPage> held(const records::HeldRequest& request) = 0;
  virtual Result<std::vector<records::DeliveryRow>> deliveries(const records::DeliveryQuery& query) = 0;
  virtual Result<records::EventPage> events(const records::EventQuery& query) = 0;
  virtual Result<std::vector<records::UsageSum>> usage(const records::UsageQuery& query) = 0;
  virtual Result<records::SessionRow> session(const SessionId& id) = 0;
};

class MessageStore : public MessageReader {
 public:
  virtual Result<records::WorkspaceState> load() = 0;

  virtual Result<void> begin(CommitDurability durability = CommitDurability::Full) = 0;
  virtual Result<void> apply(const records::Change& change) = 0;
  /// The group contains the journal's commits up to `reach`. Inside a group, like `apply`.
  virtual Result<void> set_journal_position(JournalReach reach) = 0;
  virtual Result<void> commit() = 0;
  /// The sequence number of the last committed event.
  virtual Result<records::EventSeq> newest_event() = 0;
  virtual void rollback() = 0;

  /// Includes what the open group applied; the caller must not pass such a result on before the commit.
  virtual Result<records::BacklogPage> backlog(const records::BacklogRequest& request) = 0;
  /// Inside a group like `apply`.
  virtual Result<records::ExpireResult> expire(const records::ExpireRequest& request) = 0;

  /// A bounded step of background work (full-text index, retention), in its own commit; true while more remains.
  virtual Result<bool> index_step(std::size_t max_rows) = 0;
  virtual Result<bool> prune_step(const Retention& retention, WallMs now, std::size_t max_rows) = 0;

  /// Compares the next part of the store with its checksums, unless the opening did that; true while more remains.
  /// Damaged names what was found and the next step for the user, and ends the check.
  virtual Result<bool> check_some(std::size_t) { return false; }

  /// Keeps an acknowledged change that the store refuses in a file beside it, if the store has one, and retries it at
  /// each opening. Returns the damage to report. Outside a group.
  virtual Result<Damage> keep_refused(const records::Change& change);

  /// A second reader for long reads on another thread; null when the store has none (then reads go to the writer).
  virtual Result<std::unique_ptr<MessageReader>> open_reader() = 0;
};

}  // namespace relay::store
