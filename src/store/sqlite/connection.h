/// Owners of SQLite's handles, and SQLite's error codes as Errors. Private to src/store.
///
/// Why: the rest of the store runs SQL through these types and never sees a raw pointer or a result code.
/// Invariants: a cached statement is reset when its use ends; bound text must outlive the run (it is not copied).
/// Ownership: SqliteConnection owns the handle and its cached statements; statements die first.
/// Threading: one thread at a time per connection.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace relay::store {

class SqliteConnection;

/// Text that is stored as NULL when empty.
struct OrNull {
  std::string_view text;
};

class Statement {
 public:
  Statement(SqliteConnection& connection, sqlite3_stmt* handle) : connection_{&connection}, handle_{handle} {}
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  /// Parameters ?1, ?2, … in order.
  template <class... Values>
  void bind(const Values&... values) {
    int index = 0;
    (bind_at(++index, values), ...);
  }
  void bind_at(int index, std::int64_t value);
  void bind_at(int index, std::string_view text);
  void bind_at(int index, double value);
  void bind_at(int index, OrNull text);
  /// For a virtual table that identifies the pointer by `type`, a literal.
  void bind_pointer(int index, const void* value, const char* type);

  /// True when a row is available.
  Result<bool> step();
  /// For statements without rows; leaves the statement ready for the next values.
  Result<void> run();

  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] bool is_null(int column) const;

  void reset();
  /// For SQLite functions that this class does not wrap; private to src/store.
  [[nodiscard]] sqlite3_stmt* handle() const { return handle_; }

 private:
  friend class SqliteConnection;
  friend class CachedStatement;
  void count_scanned();

  SqliteConnection* connection_;
  sqlite3_stmt* handle_;
  bool in_use_ = false;
};

/// A cached statement for the length of one use.
class CachedStatement {
 public:
  explicit CachedStatement(Statement& statement) : statement_{&statement} {}
  CachedStatement(CachedStatement&& other) noexcept : statement_{std::exchange(other.statement_, nullptr)} {}
  CachedStatement& operator=(CachedStatement&&) = delete;
  ~CachedStatement();
  Statement* operator->() const { return statement_; }

 private:
  Statement* statement_;
};

enum class Access { ReadWrite, ReadOnly };

class SqliteConnection {
 public:
  static Result<std::unique_ptr<SqliteConnection>> open(const std::string& path, const std::string& vfs, Access access);
  ~SqliteConnection();
  SqliteConnection(const SqliteConnection&) = delete;
  SqliteConnection& operator=(const SqliteConnection&) = delete;

  /// One or several statements without parameters.
  Result<void> execute(const char* sql);
  Result<Statement> prepare(std::string_view sql);
  /// Prepares once and caches. `sql` must be a literal: the cache key is its address.
  Result<CachedStatement> use(const char* sql);
  /// The first column of the first row; 0 when there is none.
  Result<std::int64_t> integer(const char* sql);

  /// Rows changed by the last statement that changed any.
  [[nodiscard]] std::int64_t rows_changed() const;
  [[nodiscard]] bool in_transaction() const;
  /// Closing the connection does not checkpoint the log: damaged or foreign files stay as they are.
  void keep_log();
  /// Ends any transaction; ignores errors.
  void rollback();
  /// Write access to the shadow tables of the full-text index, allowed only while it is rebuilt.
  enum class InnerTables { Protected, Writable };
  void set_inner_tables(InnerTables mode);
  /// Drops cached statements, so that tables they name can be dropped.
  void drop_statements();

  [[nodiscard]] Error error(int result_code, std::string_view sql) const;
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::string& vfs() const { return vfs_; }
  /// Rows read without an index so far; a test checks that no query scans the history.
  [[nodiscard]] std::int64_t rows_scanned() const { return rows_scanned_; }
  /// The last damage found was in the full-text index only, which can be rebuilt.
  [[nodiscard]] bool damage_in_full_text() const { return damage_in_full_text_; }

 private:
  friend class Statement;
  SqliteConnection(std::string path, std::string vfs) : path_{std::move(path)}, vfs_{std::move(vfs)} {}

  std::string path_;
  std::string vfs_;
  sqlite3* handle_ = nullptr;
  std::unordered_map<const char*, Statement> statements_;
  std::int64_t rows_scanned_ = 0;
  mutable bool damage_in_full_text_ = false;
};

}  // namespace relay::store
