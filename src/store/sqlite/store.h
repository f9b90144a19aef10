/// The durable store: one SQLite database per workspace, write-ahead log, one writer.
///
/// Invariants: after commit() in Power mode the group survives a power cut, in Process mode any end of the process; a
///   damaged or foreign file is renamed, never overwritten; a file of a newer version is refused and stays unchanged; the
///   file is readable by its owner only.
/// Ownership: owns its connection; a reader from open_reader() has its own and may outlive it.
/// Threading: one thread at a time; the reader is for another thread.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "store/damage.h"
#include "store/message_store.h"

namespace relay::store {

/// What a commit survives: the end of the process, or a power cut.
enum class Durability { Process, Power };

/// Exclusive keeps the log's index in the memory of this process: no other process may open the file, there is no
/// reader beside the writer, and no shared memory is needed (test file systems have none).
enum class Sharing { Shared, Exclusive };

struct SqliteOptions {
  std::string path;
  Durability durability = Durability::Power;
  std::string vfs = {};  // a registered SQLite file system; empty is the machine's own
  Sharing sharing = Sharing::Shared;
  WallMs now = 0;              // part of the names of quarantined files
  std::int64_t first_key = 0;  // a new store starts after this key, so that two stores seldom share ids
  std::string boot_id = {};    // of the machine; if it changed since the last opening, unsynced commits may be lost
  /// Up to this size all pages are compared with their checksums before the store is used: some ten milliseconds, or
  /// half a second after a crash. The pages of a larger database are compared by check_some, while the store is in use.
  std::uint64_t verified_bytes = 32 << 20;
  std::uint64_t verified_after_crash_bytes = 256 << 20;
};

/// The store's position in its journal.
struct JournalPosition {
  std::uint64_t id = 0;  // random, created with the store
  JournalReach applied;
  bool power_lost = false;  // the machine went down and commits were not synced
  bool is_new = false;      // the id was created now: the store never had a journal
  bool salvaged = false;    // rows come from a damaged database: the journal must be applied again
};

class SqliteStore final : public MessageStore {
 public:
  static Result<std::unique_ptr<SqliteStore>> open(const SqliteOptions& options);
  ~SqliteStore() override;

  /// The damage found at the opening and the messages lost.
  [[nodiscard]] const Damage& damage() const;
  /// Adds damage found while the journal was applied.
  void add_damage(Damage damage);
  /// The damage as one message; empty when there is none.
  [[nodiscard]] std::string warning() const { return damage().message(); }

  Result<records::WorkspaceState> load() override;
  Result<JournalPosition> journal_position();
  /// Takes over the journal of an earlier store; for a new store that has such a journal beside it.
  Result<void> adopt_journal(std::uint64_t id);
  /// Counts the lost messages after the journal was applied to a store with salvaged rows. `expected`: an upper bound of
  /// all messages that the store ever had.
  Result<void> finish_recovery(std::uint64_t expected);
  /// Retries the changes that earlier processes had refused, after all other recovery.
  Result<void> retry_refused();
  /// The number of changes that are still refused.
  [[nodiscard]] std::size_t refused() const;
  /// Acknowledged commits are lost: gives the store a new id and skips keys, so that positions of clients and assigned
  /// keys are not reused.
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
  Result<std::vector<records::DeliveryRow>> deliveries(const records::DeliveryQuery& query) override;
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
