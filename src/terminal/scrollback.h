/// The rows that left the top of the primary screen, as text; bounded in rows and bytes, the oldest are dropped first.
///
/// Rows are numbered from the start of the session and keep their number, so that a reader can continue "from 1234"
/// even if rows were dropped meanwhile. Styles are not stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "terminal/limits.h"

namespace relay::terminal {

struct ScrolledRow {
  std::string text;
  bool wrapped = false;  // continues in the next row (for the newest: the screen's first row)
  bool operator==(const ScrolledRow&) const = default;
};

class Scrollback {
 public:
  explicit Scrollback(std::size_t max_rows = kScrollbackRows, std::size_t max_bytes = kScrollbackBytes)
      : max_rows_{max_rows}, max_bytes_{max_bytes} {}

  void push(ScrolledRow row);
  void clear();

  /// Numbers of the oldest stored row and of the next row.
  [[nodiscard]] std::uint64_t first() const { return end_ - rows_.size(); }
  [[nodiscard]] std::uint64_t end() const { return end_; }
  /// nullptr when the row was dropped or does not exist yet.
  [[nodiscard]] const ScrolledRow* row(std::uint64_t number) const;
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  bool operator==(const Scrollback&) const = default;

 private:
  static std::size_t cost(const ScrolledRow& row) { return row.text.size() + sizeof(ScrolledRow); }

  std::size_t max_rows_;
  std::size_t max_bytes_;
  std::deque<ScrolledRow> rows_;
  std::uint64_t end_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace relay::terminal
