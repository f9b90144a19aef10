#include "store/sqlite/connection.h"

#include <sqlite3.h>

#include <cerrno>
#include <system_error>

#include "base/format.h"
#include "store/message_store.h"
#include "store/sqlite/checked_pages.h"
#include "store/sqlite/files.h"
#include "store/sqlite/row_batch.h"

namespace relay::store {
namespace {

constexpr int kBusyTimeoutMs = 5'000;     // another program, such as the sqlite3 shell, locks the file
constexpr int kMaxValueBytes = 32 << 20;  // bounds the allocation for a damaged length
constexpr int kHandleFlags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;

std::string reason_of(int number) { return std::generic_category().message(number); }

Error make(Errc code, std::string message) { return fail(code, std::move(message)).error(); }

}  // namespace

Statement::Statement(Statement&& other) noexcept
    : connection_{other.connection_}, handle_{std::exchange(other.handle_, nullptr)}, in_use_{other.in_use_} {}

Statement::~Statement() {
  if (handle_ != nullptr) count_scanned();
  sqlite3_finalize(handle_);
}

void Statement::count_scanned() {
  connection_->rows_scanned_ += sqlite3_stmt_status(handle_, SQLITE_STMTSTATUS_FULLSCAN_STEP, 1);
}

void Statement::bind_at(int index, std::int64_t value) { sqlite3_bind_int64(handle_, index, value); }

void Statement::bind_at(int index, double value) { sqlite3_bind_double(handle_, index, value); }

void Statement::bind_at(int index, std::string_view text) {
  const char* bytes = text.data() == nullptr ? "" : text.data();
  sqlite3_bind_text64(handle_, index, bytes, text.size(), SQLITE_STATIC, SQLITE_UTF8);
}

void Statement::bind_at(int index, OrNull text) {
  if (text.text.empty()) {
    sqlite3_bind_null(handle_, index);
  } else {
    bind_at(index, text.text);
  }
}

void Statement::bind_pointer(int index, const void* value, const char* type) {
  sqlite3_bind_pointer(handle_, index, const_cast<void*>(value), type, nullptr);
}

Result<bool> Statement::step() {
  const int result = sqlite3_step(handle_);
  if (result == SQLITE_ROW) return true;
  if (result == SQLITE_DONE) return false;
  return Failure{connection_->error(result, sqlite3_sql(handle_))};
}

Result<void> Statement::run() {
  while (RELAY_TRY(step())) {}
  sqlite3_reset(handle_);
  return {};
}

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(handle_, column); }

double Statement::real(int column) const { return sqlite3_column_double(handle_, column); }

std::string Statement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(handle_, column));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(handle_, column))};
}

bool Statement::is_null(int column) const { return sqlite3_column_type(handle_, column) == SQLITE_NULL; }

void Statement::reset() { sqlite3_reset(handle_); }

CachedStatement::~CachedStatement() {
  if (statement_ == nullptr) return;
  statement_->reset();
  statement_->in_use_ = false;
}

Result<std::unique_ptr<SqliteConnection>> SqliteConnection::open(const std::string& path, const std::string& vfs,
                                                                 Access access) {
  // Allocation statistics take a global lock at every allocation, and nothing reads them. The call fails harmlessly in
  // a program that has used SQLite before.
  static const int configured = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  static_cast<void>(configured);
  std::unique_ptr<SqliteConnection> connection{new SqliteConnection{path, vfs}};
  const int mode = access == Access::ReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  const auto checked = register_checked_vfs(vfs);
  const int result = sqlite3_open_v2(path.c_str(), &connection->handle_, mode | kHandleFlags, checked.c_str());
  if (result != SQLITE_OK) return Failure{connection->error(result, "open")};
  if (access == Access::ReadWrite) {
    register_row_batch(connection->handle_);
    int reserved = kPageCheckBytes;  // used for a new database
    sqlite3_file_control(connection->handle_, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved);
  }
  sqlite3_busy_timeout(connection->handle_, kBusyTimeoutMs);
  sqlite3_limit(connection->handle_, SQLITE_LIMIT_LENGTH, kMaxValueBytes);
  // A file is data, never a program: its schema may not call functions or write to shadow tables.
  sqlite3_db_config(connection->handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(connection->handle_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(connection->handle_, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  return connection;
}

SqliteConnection::~SqliteConnection() {
  statements_.clear();
  sqlite3_close(handle_);
}

Result<void> SqliteConnection::execute(const char* sql) {
  const int result = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  if (result != SQLITE_OK) return Failure{error(result, sql)};
  return {};
}

Result<Statement> SqliteConnection::prepare(std::string_view sql) {
  sqlite3_stmt* handle = nullptr;
  const int result = sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()), 0, &handle, nullptr);
  if (result != SQLITE_OK) return Failure{error(result, sql)};
  return Statement{*this, handle};
}

Result<CachedStatement> SqliteConnection::use(const char* sql) {
  auto found = statements_.find(sql);
  if (found == statements_.end()) found = statements_.emplace(sql, RELAY_TRY(prepare(sql))).first;
  RELAY_ASSERT(!found->second.in_use_);
  found->second.in_use_ = true;
  return CachedStatement{found->second};
}

Result<std::int64_t> SqliteConnection::integer(const char* sql) {
  auto statement = RELAY_TRY(prepare(sql));
  return RELAY_TRY(statement.step()) ? statement.integer(0) : 0;
}

std::int64_t SqliteConnection::rows_changed() const { return sqlite3_changes64(handle_); }

bool SqliteConnection::in_transaction() const { return sqlite3_get_autocommit(handle_) == 0; }

void SqliteConnection::keep_log() { sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr); }

void SqliteConnection::rollback() {
  // After some errors (full disk, I/O error) SQLite has rolled back already; then nothing is left to undo.
  if (in_transaction()) sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr);
}

void SqliteConnection::set_inner_tables(InnerTables mode) {
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, mode == InnerTables::Protected ? 1 : 0, nullptr);
}

void SqliteConnection::drop_statements() { statements_.clear(); }

Error SqliteConnection::error(int result_code, std::string_view sql) const {
  const int number = handle_ == nullptr ? 0 : sqlite3_system_errno(handle_);
  const std::string detail = handle_ == nullptr ? sqlite3_errstr(result_code) : sqlite3_errmsg(handle_);
  switch (result_code & 0xff) {
    case SQLITE_FULL:
      return make(Errc::Full, format("cannot write {}: the disk is full; free some space and try again", path_));
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
      damage_in_full_text_ = result_code == SQLITE_CORRUPT_VTAB || detail.find("message_text") != std::string::npos;
      if (!damage_in_full_text_) mark_suspect(path_, vfs_);
      return make(Errc::Damaged, format("the message store {} is damaged ({}); restart the daemon to recover it: "
                                        "agent-relay down --all, agent-relay up",
                                        path_, detail));
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return make(Errc::ReadOnly,
                  format("cannot write {}: it is read-only; allow writing to the file and its directory", path_));
    case SQLITE_CANTOPEN:
      return make(Errc::ReadOnly, format("cannot open {} for writing: {}; check the directory and its permissions",
                                         path_, number == 0 ? detail : reason_of(number)));
    case SQLITE_CONSTRAINT:
    case SQLITE_TOOBIG:
    case SQLITE_MISMATCH: return make(Errc::BadChange, format("the change was refused by {}: {}", path_, detail));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return make(Errc::Failed, format("{} is held by another program; close that program and try again", path_));
    case SQLITE_IOERR:
      if (number == ENOSPC || number == EDQUOT || number == EFBIG) {
        return make(Errc::Full, format("cannot write {}: {}; free some space and try again", path_, reason_of(number)));
      }
      if (number == EROFS || number == EACCES || number == EPERM) {
        return make(Errc::ReadOnly, format("cannot write {}: {}; allow writing there", path_, reason_of(number)));
      }
      return make(Errc::Failed, format("cannot read or write {}: {}; check the disk", path_,
                                       number == 0 ? detail : reason_of(number)));
    default:
      return make(Errc::Failed, format("the message store {} failed: {} (in: {})", path_, detail, sql.substr(0, 60)));
  }
}

}  // namespace relay::store
