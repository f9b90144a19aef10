/// Rows in memory that SQL reads as a table, so that one statement writes all of them. Private to src/store.
///
/// Why: starting and ending a statement costs half as much as its row, and within one statement SQLite need not search
///   an index that grows at its right edge from the root for each row.
/// Invariants: text is copied, so no argument has to outlive the call; every row has as many values as the first.
/// Threading: that of the connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/sqlite/connection.h"

namespace relay::store {

class RowBatch {
 public:
  /// Adds one row: numbers, text, or nullable values (std::optional, OrNull).
  template <class... Values>
  void add(const Values&... values) {
    columns_ = sizeof...(values);
    (add_cell(values), ...);
  }
  [[nodiscard]] bool empty() const { return cells_.empty(); }
  /// About how much memory the rows use.
  [[nodiscard]] std::size_t bytes() const { return cells_.size() * sizeof(Cell) + text_.size(); }
  void clear();

  /// Runs an INSERT that selects c1, c2, … FROM row_batch(?1), then clears the rows. The INSERT should be OR FAIL: a
  /// failed group is rolled back as a whole, so SQLite need not keep an undo log for the statement.
  Result<void> write(SqliteConnection& connection, const char* insert);

 private:
  friend class RowBatchTable;
  enum class Kind : std::uint8_t { Null, Number, Text };
  struct Cell {
    Kind kind = Kind::Null;
    std::int64_t value = 0;  // the number, or the offset of the text
    std::size_t size = 0;
  };
  void add_cell(std::int64_t number) { cells_.push_back({Kind::Number, number, 0}); }
  void add_cell(std::string_view text) {
    cells_.push_back({Kind::Text, static_cast<std::int64_t>(text_.size()), text.size()});
    text_ += text;
  }
  void add_cell(std::optional<std::int64_t> number) {
    if (number) {
      add_cell(*number);
    } else {
      cells_.emplace_back();
    }
  }
  void add_cell(OrNull text) {
    if (text.text.empty()) {
      cells_.emplace_back();
    } else {
      add_cell(text.text);
    }
  }

  std::size_t columns_ = 0;
  std::vector<Cell> cells_;
  std::string text_;
};

/// Registers the table-valued function `row_batch` with a connection.
int register_row_batch(sqlite3* connection);

}  // namespace relay::store
