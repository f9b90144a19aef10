/// The store as one thread sees it: apply changes in a group, commit them together, answer questions.
///
/// Why an interface: memory and SQLite (PostgreSQL later) pass one suite (message_store_suite.h); swapping one for
///   another changes only its cost.
/// Invariants: nothing applied is visible after a crash unless commit() returned; after a failed commit() or apply()
///   the group is rolled back and the store is usable again; keys only grow.
/// Threading: one thread at a time; StoreQueue is the door for the loop thread.
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
  Damaged,    // the file is not what we wrote
  Full,       // no space left
  ReadOnly,   // the place does not allow writing
  Newer,      // made by a later version of this program
  Failed,     // anything else the machine did to us
  BadChange,  // this change contradicts what is stored; the store itself is sound
};
std::string_view describe(Errc code);

/// A commit's place in the journal before the store; 0 is before all.
using CommitNumber = std::uint64_t;

/// A place in the journal: the commits up to it, and the messages in those commits.
struct JournalReach {
  CommitNumber commits = 0;
  std::uint64_t messages = 0;
};

/// How many of these changes add a message.
std::uint32_t messages_in(const records::Changes& changes);

/// What a group is worth once it is committed.
enum class CommitDurability {
  Kept,      // it survives what the store's durability says
  ElseKept,  // a journal has it; a power cut may take it back, with all groups after it
};

/// What to forget. Deliveries that are not final are never touched, nor the messages they carry.
struct Retention {
  std::int64_t max_age_ms = 0;        // 0: no limit by age
  std::uint64_t max_bytes = 0;        // 0: no limit by size
  std::int64_t max_event_age_ms = 0;  // of the log of events; 0: no limit
};

/// Reading half: safe to use beside the writer where `open_reader` gave a second one.
class MessageReader {
 public:
  virtual ~MessageReader() = default;
  virtual Result<std::vector<records::MessageRow>> messages(const records::MessageQuery& query) = 0;
  virtual Result<records::Trace> trace(const std::string& id_or_prefix) = 0;
  virtual Result<records::StoreStats> stats() = 0;
  virtual Result<records::HeldPage> held(const records::HeldRequest& request) = 0;
  virtual Result<std::vector<records::DeadLetter>> dead(const records::DeadQuery& query) = 0;
  virtual Result<records::EventPage> events(const records::EventQuery& query) = 0;
  virtual Result<std::vector<records::UsageSum>> usage(const records::UsageQuery& query) = 0;
  virtual Result<records::SessionRow> session(const SessionId& id) = 0;
};

class MessageStore : public MessageReader {
 public:
  virtual Result<records::WorkspaceState> load() = 0;

  virtual Result<void> begin(CommitDurability promise = CommitDurability::Kept) = 0;
  virtual Result<void> apply(const records::Change& change) = 0;
  /// The group holds what the journal has up to here. Inside a group like `apply`.
  virtual Result<void> set_journal_position(JournalReach reach) = 0;
  virtual Result<void> commit() = 0;
  /// The number of the last event that was committed.
  virtual Result<records::EventSeq> newest_event() = 0;
  virtual void rollback() = 0;

  /// Sees what the open group applied; such results may be told to nobody before the commit.
  virtual Result<records::BacklogPage> backlog(const records::BacklogRequest& request) = 0;
  /// Inside a group like `apply`.
  virtual Result<records::ExpireResult> expire(const records::ExpireRequest& request) = 0;

  /// A bounded step of background work (full-text index, retention), in its own commit; true while more remains.
  virtual Result<bool> index_step(std::size_t max_rows) = 0;
  virtual Result<bool> prune_step(const Retention& retention, WallMs now, std::size_t max_rows) = 0;

  /// Compares the next part of the store with its checksums, unless that was done when it was opened; true while more
  /// remains. Damaged says what was found and the next step; the check is over then.
  virtual Result<bool> check_some(std::size_t) { return false; }

  /// The store refuses this change, which was acknowledged: it is kept beside the store, where it can, and tried again when
  /// the store is opened. Returns what is to be told. Outside a group.
  virtual Result<Damage> keep_refused(const records::Change& change);

  /// A second door for long reads on another thread; empty when the store has none (then reads go to the writer).
  virtual Result<std::unique_ptr<MessageReader>> open_reader() = 0;
};

}  // namespace relay::store
