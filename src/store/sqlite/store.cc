#include "store/sqlite/store.h"

#include <set>

#include "base/format.h"
#include "base/log.h"
#include "store/queue/store_batch.h"
#include "store/sqlite/checked_pages.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/files.h"
#include "store/sqlite/load.h"
#include "store/sqlite/queries.h"
#include "store/sqlite/refused_changes.h"
#include "store/sqlite/retention.h"
#include "store/sqlite/salvage.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/store_identity.h"
#include "store/sqlite/text.h"
#include "store/sqlite/writer.h"

namespace relay::store {

using namespace records;

namespace {

// After a crash the structure of a file up to this size is checked (some milliseconds).
constexpr std::uint64_t kCheckedAfterCrashBytes = 4 << 20;

constexpr std::int64_t kSkippedKeys = 1 << 20;  // after a loss: more keys than the lost commits can have assigned

constexpr const char* kPragmas =
    "PRAGMA page_size=8192;"  // before the first table: groups have many messages, larger pages mean fewer writes
    "PRAGMA auto_vacuum=INCREMENTAL;"  // before the first table: files shrink after retention
    "PRAGMA cache_size=-8000;"
    // A message writes some twenty pages, most of them the same as the message before it. A later checkpoint writes
    // each page once for more messages, and every checkpoint costs syncs that delay commits.
    "PRAGMA wal_autocheckpoint=3000;"
    "PRAGMA temp_store=MEMORY;"
    "PRAGMA cell_size_check=ON;"  // reports damage early, as an error
    "PRAGMA secure_delete=FAST;"
    "PRAGMA journal_size_limit=67108864;";

Result<void> check_structure(SqliteConnection& connection, const SqliteOptions& options) {
  auto check = RELAY_TRY(connection.prepare("PRAGMA quick_check(1)"));
  if (RELAY_TRY(check.step()) && check.text(0) != "ok")
    return fail(Errc::Damaged, format("the message store {} is damaged ({})", options.path, check.text(0)));
  return {};
}

/// Checks the database and sets it up. On failure the files stay as they were found.
Result<void> prepare(SqliteConnection& connection, const SqliteOptions& options, bool check_pages) {
  if (options.sharing == Sharing::Exclusive) RELAY_TRY(connection.execute("PRAGMA locking_mode=EXCLUSIVE"));
  RELAY_TRY(check_identity(connection));
  if (check_pages) RELAY_TRY(check_structure(connection, options));
  RELAY_TRY(connection.execute(kPragmas));
  {
    auto mode = RELAY_TRY(connection.prepare("PRAGMA journal_mode=WAL"));
    if (RELAY_TRY(mode.step()) && mode.text(0) != "wal") {
      return fail(Errc::ReadOnly,
                  format("{} cannot keep a write-ahead log where it is; use another directory", options.path));
    }
  }
  return {};
}

/// Checkpoints first: a page that the log holds may be half written in the file.
Result<void> verify(SqliteConnection& connection, const SqliteOptions& options, bool crashed) {
  if (crashed) RELAY_TRY(connection.execute("PRAGMA wal_checkpoint(TRUNCATE)"));
  const auto pages = static_cast<std::uint64_t>(RELAY_TRY(connection.integer("PRAGMA page_count")));
  const auto verified = RELAY_TRY(verify_pages(options.path, options.vfs, pages));
  return verified.zeros || !verified.checked ? check_structure(connection, options) : Result<void>{};
}

/// Checkpoints, because a page that the log holds may be half written in the file. False: another connection prevents
/// it.
Result<bool> checkpoint(SqliteConnection& connection) {
  auto fold = RELAY_TRY(connection.prepare("PRAGMA wal_checkpoint(PASSIVE)"));
  return RELAY_TRY(fold.step()) && fold.integer(0) == 0 && fold.integer(1) == fold.integer(2);
}

struct CheckedConnection {
  std::unique_ptr<SqliteConnection> connection;
  bool verified = false;  // every page
};

Result<CheckedConnection> open_checked(const SqliteOptions& options) {
  if (!looks_like_database(options.path, options.vfs)) {
    return fail(Errc::Damaged, format("{} is not a message store of Agent Relay", options.path));
  }
  const bool crashed = file_bytes(options.path + "-wal", options.vfs) > 0;
  const auto bytes = file_bytes(options.path, options.vfs);
  const bool small = bytes <= kCheckedAfterCrashBytes;
  const bool suspect = is_suspect(options.path, options.vfs);
  restrict_permissions(options.path, options.vfs);
  auto connection = RELAY_TRY(SqliteConnection::open(options.path, options.vfs, Access::ReadWrite));
  auto done = prepare(*connection, options, suspect || (crashed && small));
  const bool verified = suspect || bytes <= (crashed ? options.verified_after_crash_bytes : options.verified_bytes);
  if (done && bytes > 0 && verified) done = verify(*connection, options, crashed);
  if (done) done = migrate(*connection);
  if (!done) {
    if (crashed || is(done.error(), Errc::Damaged)) connection->keep_log();
    return Failure{done.error()};
  }
  clear_suspect(options.path, options.vfs);
  return CheckedConnection{std::move(connection), verified};
}

}  // namespace

/// The parts of the store; the connection is declared before what uses it, so it dies last.
class SqliteStore::Parts {
 public:
  Parts(SqliteOptions how, CheckedConnection opened)
      : options{std::move(how)},
        connection{std::move(opened.connection)},
        writer{*connection},
        verified{opened.verified},
        refused{options.path, options.vfs} {}

  /// Background work never waits for the disk: after a power cut it is repeated.
  Result<void> sync_commits(bool wait) {
    const bool full = wait && options.durability == Durability::Power;
    if (full == full_sync) return {};
    RELAY_TRY(connection->execute(full ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL"));
    full_sync = full;
    return {};
  }

  /// The connection for queries, with the batches of an open group written. A failure to write them ends the group.
  Result<SqliteConnection*> flushed_connection() {
    const auto written = writer.flush_batches();
    if (written) return connection.get();
    group_error = written.error();
    rollback();
    return Failure{*group_error};
  }

  void rollback() {
    connection->rollback();
    writer.on_rollback();
  }

  /// Runs one step of background work in a separate commit.
  template <class Work>
  Result<bool> in_background(Work work) {
    RELAY_ASSERT(!connection->in_transaction());
    const auto run = [&]() -> Result<bool> {
      RELAY_TRY(sync_commits(false));
      RELAY_TRY(connection->execute("BEGIN IMMEDIATE"));
      const bool more = RELAY_TRY(work());
      RELAY_TRY(connection->execute("COMMIT"));
      return more;
    };
    auto more = run();
    if (!more) {
      rollback();
      retention.on_rollback();
      if (is(more.error(), Errc::Damaged) && connection->damage_in_full_text()) {
        RELAY_TRY(recreate_full_text(*connection));
        log::warn("full-text index damaged; rebuilding it", {{"store", options.path}});
        return true;
      }
    }
    return more;
  }

  SqliteOptions options;
  Damage damage;
  std::optional<SalvageResult> salvaged;  // rows came from a damaged database
  std::unique_ptr<SqliteConnection> connection;
  SqliteWriter writer;
  SqliteRetention retention;
  bool full_sync = true;  // SQLite's own default
  CommitDurability group_durability{};
  std::optional<Error> group_error;  // the error that rolled the group back
  bool verified;                     // every page, or the check is over
  std::unique_ptr<PageVerifier> verifier;
  RefusedChanges refused;
  std::set<Key> refused_messages;  // counted as lost
};

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(const SqliteOptions& options) {
  Damage damage;
  std::optional<SalvageResult> salvaged;
  auto opened = open_checked(options);
  if (!opened && is(opened.error(), Errc::Damaged)) {
    const auto reason = opened.error().message();
    const auto name = RELAY_TRY(quarantine(options.path, options.vfs, options.now));
    clear_suspect(options.path, options.vfs);
    opened = open_checked(options);
    if (!opened) return Failure{opened.error()};
    auto rows = salvage(name, options.vfs, *opened->connection);
    if (rows && rows->rows > 0) salvaged = *std::move(rows);
    damage.findings.push_back(format("{}: it was moved to {} and {}", reason, name,
                                     salvaged ? "the readable rows were recovered" : "a new store was created"));
    damage.files.push_back(name);
  }
  if (!opened) return Failure{opened.error()};
  auto parts = std::make_unique<Parts>(options, *std::move(opened));
  parts->damage = std::move(damage);
  parts->salvaged = std::move(salvaged);
  RELAY_TRY(parts->refused.load());
  return std::unique_ptr<SqliteStore>{new SqliteStore{std::move(parts)}};
}

SqliteStore::SqliteStore(std::unique_ptr<Parts> parts) : parts_{std::move(parts)} {}

SqliteStore::~SqliteStore() { parts_->rollback(); }

const Damage& SqliteStore::damage() const { return parts_->damage; }

void SqliteStore::add_damage(Damage damage) { parts_->damage.add(std::move(damage)); }

std::size_t SqliteStore::refused() const { return parts_->refused.size(); }

Result<Damage> SqliteStore::keep_refused(const Change& change) {
  auto& refused = parts_->refused;
  const auto result = RELAY_TRY(refused.keep(change));
  Damage damage;  // also for a duplicate: the process may have ended before the report
  const auto* message = std::get_if<AddMessage>(&change);
  const auto* delivery = std::get_if<AddDelivery>(&change);
  if (message != nullptr && parts_->refused_messages.insert(message->message.key).second) ++damage.lost_messages;
  if (delivery != nullptr && parts_->refused_messages.insert(delivery->delivery.message).second) ++damage.lost_messages;
  damage.refused = refused.size();
  if (result != RefusedChanges::KeepResult::Full) {
    damage.findings.push_back(
        format("acknowledged changes contradict the message store: they are kept in {} and retried "
               "at each start of the daemon",
               refused.path()));
  } else {
    damage.findings.push_back(
        format("acknowledged changes contradict the message store and are lost, because {} is full", refused.path()));
  }
  return damage;
}

Result<void> SqliteStore::retry_refused() {
  const auto applied = parts_->refused.retry([this](const Change& change) {
    std::string reason;
    return apply_separately(*this, change, reason,
                            CommitDurability::Full);  // the only copy once the file marks it as applied
  });
  parts_->refused.finish_recovery();
  if (!applied && is(applied.error(), Errc::Damaged)) return Failure{applied.error()};
  if (!applied)  // a store on a full disk must still open
    log::warn("cannot retry refused changes", {{"reason", applied.error().message()}});
  else if (*applied > 0)
    log::warn("applied changes that the message store had refused earlier",
              {{"changes", format("{}", *applied)}, {"still_refused", format("{}", refused())}});
  return {};
}

Result<WorkspaceState> SqliteStore::load() {
  RELAY_TRY(parts_->connection->execute("PRAGMA synchronous=FULL"));  // the store's id must survive a power cut
  parts_->full_sync = true;
  auto id = RELAY_TRY(identify_store(*parts_->connection, parts_->options));
  auto state = RELAY_TRY(load_state(*parts_->connection));
  state.store_id = std::move(id);
  state.newest_event = RELAY_TRY(newest_event());
  return state;
}

Result<JournalPosition> SqliteStore::journal_position() {
  auto place = RELAY_TRY(read_journal_position(*parts_->connection, parts_->options));
  place.salvaged = parts_->salvaged.has_value();
  return place;
}

Result<void> SqliteStore::finish_recovery(std::uint64_t expected) {
  if (!parts_->salvaged) return {};
  parts_->damage.lost_messages += RELAY_TRY(count_missing(*parts_->connection, *parts_->salvaged, expected));
  return renew_identity();
}

Result<void> SqliteStore::adopt_journal(std::uint64_t id) { return store::adopt_journal(*parts_->connection, id); }

Result<void> SqliteStore::renew_identity() {
  RELAY_TRY(parts_->connection->execute("DELETE FROM meta WHERE name='store_id'"));
  const auto newest = RELAY_TRY(newest_key(*parts_->connection));
  return remember_newest_key(*parts_->connection, Key{newest.value() + kSkippedKeys});
}

Result<void> SqliteStore::begin(CommitDurability durability) {
  parts_->group_durability = durability;
  parts_->group_error.reset();
  RELAY_TRY(parts_->sync_commits(durability == CommitDurability::Full));
  return parts_->connection->execute("BEGIN IMMEDIATE");
}

Result<void> SqliteStore::apply(const Change& change) {
  if (parts_->group_error) return Failure{*parts_->group_error};
  if (parts_->refused.has_base_of(change)) {
    if (std::holds_alternative<AddDelivery>(change))
      return rollback(), fail(Errc::BadChange, "the delivery is of a message that was refused");
    const auto result = parts_->refused.keep(change);
    if (result && *result != RefusedChanges::KeepResult::Full) return {};
    rollback();
    if (result) return fail(Errc::BadChange, "it builds on a refused change, and there is no room to keep it");
    return Failure{result.error()};
  }
  auto done = parts_->writer.apply(change);
  if (!done) rollback();
  return done;
}

Result<void> SqliteStore::set_journal_position(JournalReach reach) {
  parts_->writer.set_journal_position(reach, parts_->group_durability);
  return {};
}

Result<void> SqliteStore::commit() {
  if (parts_->group_error) return Failure{*parts_->group_error};
  auto done = parts_->writer.finish_group();
  if (done) done = parts_->connection->execute("COMMIT");
  if (!done) rollback();
  return done;
}

Result<EventSeq> SqliteStore::newest_event() { return parts_->writer.newest_event(); }

void SqliteStore::rollback() { parts_->rollback(); }

Result<BacklogPage> SqliteStore::backlog(const BacklogRequest& request) {
  return load_backlog(*RELAY_TRY(parts_->flushed_connection()), request);
}

Result<ExpireResult> SqliteStore::expire(const ExpireRequest& request) {
  if (parts_->group_error) return Failure{*parts_->group_error};
  auto result = parts_->writer.expire(request);
  if (!result) rollback();
  return result;
}

Result<bool> SqliteStore::index_step(std::size_t max_rows) {
  return parts_->in_background([&] { return index_next(*parts_->connection, max_rows); });
}

Result<bool> SqliteStore::check_some(std::size_t max_bytes) {
  auto& parts = *parts_;
  if (parts.verified) return false;
  const auto step = [&]() -> Result<bool> {
    const auto& [path, vfs] = std::tie(parts.options.path, parts.options.vfs);
    if (parts.verifier == nullptr) parts.verifier = RELAY_TRY(PageVerifier::open(path, vfs));
    auto more = parts.verifier->step(max_bytes);
    if (more || !is(more.error(), Errc::Damaged)) return more;
    if (!RELAY_TRY(checkpoint(*parts.connection))) return true;
    more = parts.verifier->step(max_bytes);
    if (more || !is(more.error(), Errc::Damaged)) return more;
    mark_suspect(path, vfs);
    return fail(Errc::Damaged, format("{}; restart the daemon to recover what can be read: "
                                      "agent-relay down --all, agent-relay up",
                                      more.error().message()));
  };
  auto more = step();
  if (!more || !*more) {
    parts.verified = true;
    parts.verifier.reset();
  }
  return more;
}

Result<bool> SqliteStore::prune_step(const Retention& retention, WallMs now, std::size_t max_rows) {
  parts_->writer.on_pruned();
  return parts_->in_background([&] { return parts_->retention.step(*parts_->connection, retention, now, max_rows); });
}

Result<std::vector<MessageRow>> SqliteStore::messages(const MessageQuery& query) {
  return select_messages(*RELAY_TRY(parts_->flushed_connection()), query);
}

Result<Trace> SqliteStore::trace(const std::string& id_or_prefix) {
  return select_trace(*RELAY_TRY(parts_->flushed_connection()), id_or_prefix);
}

Result<StoreStats> SqliteStore::stats() { return select_stats(*RELAY_TRY(parts_->flushed_connection())); }

Result<HeldPage> SqliteStore::held(const HeldRequest& request) {
  return select_held(*RELAY_TRY(parts_->flushed_connection()), request);
}

Result<std::vector<DeliveryRow>> SqliteStore::deliveries(const DeliveryQuery& query) {
  return select_deliveries(*RELAY_TRY(parts_->flushed_connection()), query);
}

Result<EventPage> SqliteStore::events(const EventQuery& query) {
  return select_events(*RELAY_TRY(parts_->flushed_connection()), query);
}

Result<std::vector<UsageSum>> SqliteStore::usage(const UsageQuery& query) {
  return select_usage(*RELAY_TRY(parts_->flushed_connection()), query);
}

Result<SessionRow> SqliteStore::session(const SessionId& id) {
  return select_session(*RELAY_TRY(parts_->flushed_connection()), id);
}

Result<std::unique_ptr<MessageReader>> SqliteStore::open_reader() {
  const auto& options = parts_->options;
  if (options.sharing == Sharing::Exclusive) return std::unique_ptr<MessageReader>{};
  auto connection = RELAY_TRY(SqliteConnection::open(options.path, options.vfs, Access::ReadOnly));
  RELAY_TRY(connection->execute("PRAGMA query_only=ON; PRAGMA cell_size_check=ON; PRAGMA temp_store=MEMORY"));
  return std::unique_ptr<MessageReader>{std::make_unique<SqliteReader>(std::move(connection))};
}

}  // namespace relay::store
