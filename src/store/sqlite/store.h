/// The durable store: one SQLite database per workspace, write-ahead log, one writer.
///
/// Invariants: after commit() in Power mode the group survives a power cut, in Process mode any death of ours; a
///   damaged or foreign file is set aside under a new name, never overwritten; a file of a newer version is refused
///   and left as it is; the file is owner-only.
/// Ownership: owns its connection; a reader from open_reader() has its own and may outlive it.
/// Threading: one thread at a time; the reader is for another thread.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "store/damage.h"
#include "store/message_store.h"

namespace relay::store {

/// What a commit survives.
enum class Durability { Process, Power };

/// Exclusive keeps the log's index in this process's memory: nobody else may open the file, no reader beside the
/// writer, no shared memory needed (file systems made for tests have none).
enum class Sharing { Shared, Exclusive };

struct SqliteOptions {
  std::string path;
  Durability durability = Durability::Power;
  std::string vfs = {};  // a registered SQLite file system; empty is the machine's own
  Sharing sharing = Sharing::Shared;
  WallMs now = 0;              // names a damaged file that must be set aside
  std::int64_t first_key = 0;  // a new store begins after this key, so that ids of two stores are not mistaken
  std::string boot_id = {};    // of the machine; another one than last time means that unsynced commits may be gone
  /// Up to this size all pages are compared with their checksums before the store is used: some ten milliseconds, or half a
  /// second after a crash. The pages of a larger database are compared by check_some, while the store is in use.
  std::uint64_t verified_bytes = 32 << 20;
  std::uint64_t verified_after_crash_bytes = 256 << 20;
};

/// What a journal must know of the store behind it.
struct JournalPosition {
  std::uint64_t id = 0;  // random, made with the store
  JournalReach applied;
  bool power_lost = false;  // the machine went down and commits were not synced
  bool is_new = false;      // it was made now: the store never had a journal
  bool salvaged = false;    // rows are recovered from a damaged database: what the journal has is to be applied again
};

class SqliteStore final : public MessageStore {
 public:
  static Result<std::unique_ptr<SqliteStore>> open(const SqliteOptions& options);
  ~SqliteStore() override;

  /// What was found damaged at the opening, and lost by it.
  [[nodiscard]] const Damage& damage() const;
  /// Found while the journal was applied to it.
  void add_damage(Damage damage);
  /// The same as one sentence; empty when all was well.
  [[nodiscard]] std::string warning() const { return damage().sentence(); }

  Result<records::WorkspaceState> load() override;
  Result<JournalPosition> journal_position();
  /// The store is new and the journal of an earlier one lies beside it: that journal is its own from now on.
  Result<void> adopt_journal(std::uint64_t id);
  /// After the journal was applied to a store whose rows were recovered from a damaged one: what is missing for good is
  /// counted. `known`: messages the store ever had, at most.
  Result<void> finish_recovery(std::uint64_t known);
  /// Tries the changes again that the store refused in earlier lives, after all else is recovered.
  Result<void> retry_refused();
  /// How many it still refuses.
  [[nodiscard]] std::size_t refused() const;
  /// Acknowledged commits are gone: positions of clients and keys that were given out must not come again.
  Result<void> renew_identity();

  Result<void> begin(CommitDurability durability = CommitDurability::Full) override;
  Result<void> apply(const records::Change& change) override;
  Result<void> set_journal_position(JournalReach reach) override;
  Result<void> commit() override;
  Result<records::EventSeq> newest_event() override;
  void rollback() override;

  Result<records::BacklogPage> backlog(const records::BacklogRequest& request) override;
  Result<records::ExpireResult> expire(const records::ExpireRequest& request) override;

  Result<bool> index_step(std::size_t max_rows) override;
  Result<bool> check_some(std::size_t max_bytes) override;
  Result<Damage> keep_refused(const records::Change& change) override;
  Result<bool> prune_step(const Retention& retention, WallMs now, std::size_t max_rows) override;

  Result<std::vector<records::MessageRow>> messages(const records::MessageQuery& query) override;
  Result<records::Trace> trace(const std::string& id_or_prefix) override;
  Result<records::StoreStats> stats() override;
  Result<records::HeldPage> held(const records::HeldRequest& request) override;
  Result<std::vector<records::DeadLetter>> dead(const records::DeadQuery& query) override;
  Result<records::EventPage> events(const records::EventQuery& query) override;
  Result<std::vector<records::UsageSum>> usage(const records::UsageQuery& query) override;
  Result<records::SessionRow> session(const SessionId& id) override;

  Result<std::unique_ptr<MessageReader>> open_reader() override;

 private:
  class Parts;
  explicit SqliteStore(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace relay::store
