#include "store/sqlite/row_batch.h"

#include <sqlite3.h>

#include <new>

namespace relay::store {

/// The SQLite virtual table: a cursor that reads the rows once, forward.
class RowBatchTable {
 public:
  static constexpr int kColumns = 24;
  static constexpr const char* kPointer = "relay-gathered-rows";
  static constexpr const char* kShape =
      "CREATE TABLE row_batch(c1,c2,c3,c4,c5,c6,c7,c8,c9,c10,c11,c12,c13,c14,c15,c16,c17,c18,c19,c20,c21,c22,c23,"
      "c24,rows HIDDEN)";

  static int connect(sqlite3* connection, void*, int, const char* const*, sqlite3_vtab** table, char**) {
    *table = new (std::nothrow) sqlite3_vtab{};
    return *table == nullptr ? SQLITE_NOMEM : sqlite3_declare_vtab(connection, kShape);
  }
  static int disconnect(sqlite3_vtab* table) {
    delete table;
    return SQLITE_OK;
  }
  /// The only plan: read the rows passed as the argument.
  static int plan(sqlite3_vtab*, sqlite3_index_info* info) {
    for (int at = 0; at < info->nConstraint; ++at) {
      const auto& condition = info->aConstraint[at];
      if (condition.iColumn != kColumns || condition.usable == 0) continue;
      info->aConstraintUsage[at] = {.argvIndex = 1, .omit = 1};
      info->estimatedCost = 1;
      return SQLITE_OK;
    }
    return SQLITE_CONSTRAINT;
  }
  static int open(sqlite3_vtab*, sqlite3_vtab_cursor** cursor) {
    *cursor = new (std::nothrow) Cursor{};
    return *cursor == nullptr ? SQLITE_NOMEM : SQLITE_OK;
  }
  static int close(sqlite3_vtab_cursor* cursor) {
    delete &at(cursor);
    return SQLITE_OK;
  }
  static int begin(sqlite3_vtab_cursor* cursor, int, const char*, int, sqlite3_value** values) {
    at(cursor).rows = static_cast<const RowBatch*>(sqlite3_value_pointer(values[0], kPointer));
    at(cursor).cell = 0;
    return at(cursor).rows == nullptr ? SQLITE_MISUSE : SQLITE_OK;
  }
  static int next(sqlite3_vtab_cursor* cursor) {
    at(cursor).cell += at(cursor).rows->columns_;
    return SQLITE_OK;
  }
  static int is_at_end(sqlite3_vtab_cursor* cursor) {
    return at(cursor).cell >= at(cursor).rows->cells_.size() ? 1 : 0;
  }
  static int column(sqlite3_vtab_cursor* cursor, sqlite3_context* result, int number) {
    const auto& rows = *at(cursor).rows;
    if (number >= static_cast<int>(rows.columns_)) return SQLITE_OK;  // NULL
    const auto& cell = rows.cells_[at(cursor).cell + static_cast<std::size_t>(number)];
    if (cell.kind == RowBatch::Kind::Number) sqlite3_result_int64(result, cell.value);
    if (cell.kind == RowBatch::Kind::Text)
      sqlite3_result_text64(result, rows.text_.data() + cell.value, cell.size, SQLITE_STATIC, SQLITE_UTF8);
    return SQLITE_OK;
  }
  static int row_number(sqlite3_vtab_cursor* cursor, sqlite3_int64* number) {
    *number = static_cast<sqlite3_int64>(at(cursor).cell);
    return SQLITE_OK;
  }

 private:
  struct Cursor : sqlite3_vtab_cursor {
    const RowBatch* rows = nullptr;
    std::size_t cell = 0;  // the first of the row
  };
  static Cursor& at(sqlite3_vtab_cursor* cursor) { return *static_cast<Cursor*>(cursor); }
};

void RowBatch::clear() {
  cells_.clear();
  text_.clear();
}

Result<void> RowBatch::write(SqliteConnection& connection, const char* insert) {
  if (empty()) return {};
  RELAY_ASSERT(columns_ <= RowBatchTable::kColumns);
  const auto all = RELAY_TRY(connection.use(insert));
  all->bind_pointer(1, this, RowBatchTable::kPointer);
  RELAY_TRY(all->run());
  clear();
  return {};
}

int register_row_batch(sqlite3* connection) {
  static const sqlite3_module module = [] {
    sqlite3_module functions{};
    functions.xConnect = RowBatchTable::connect;
    functions.xDisconnect = RowBatchTable::disconnect;
    functions.xBestIndex = RowBatchTable::plan;
    functions.xOpen = RowBatchTable::open;
    functions.xClose = RowBatchTable::close;
    functions.xFilter = RowBatchTable::begin;
    functions.xNext = RowBatchTable::next;
    functions.xEof = RowBatchTable::is_at_end;
    functions.xColumn = RowBatchTable::column;
    functions.xRowid = RowBatchTable::row_number;
    return functions;
  }();
  return sqlite3_create_module(connection, "row_batch", &module, nullptr);
}

}  // namespace relay::store
