/// One row of cells, with the clusters its cells refer to.
///
/// Invariants: every wide cell is followed by its spacer and every spacer preceded by its wide cell; an operation that
///   splits a wide character leaves blanks. A cluster belongs to one row and one cell, so rows can be moved, cleared
///   and dropped without a shared table that grows.
#pragma once

#include <string>
#include <vector>

#include "terminal/cell.h"

namespace relay::terminal {

class Row {
 public:
  Row(int columns, const Style& style) : cells_(static_cast<std::size_t>(columns), Cell::blank(style)) {}

  [[nodiscard]] int columns() const { return static_cast<int>(cells_.size()); }
  [[nodiscard]] const Cell& cell(int column) const { return cells_[static_cast<std::size_t>(column)]; }

  /// Text of one cell; a spacer has none.
  [[nodiscard]] std::string cell_text(int column) const;
  void append_cell_text(std::string& out, int column) const;

  /// The readable text without trailing blanks.
  [[nodiscard]] std::string text() const;
  /// The text up to the right edge, for a row that continues in the next one: with blanks, without a filler.
  [[nodiscard]] std::string whole_text() const;

  /// The first column after which all cells are blanks of the default style.
  [[nodiscard]] int used_columns() const;

  /// This row continues the row above: there was no newline between them.
  [[nodiscard]] bool continues() const { return continues_; }
  void set_continues(bool continues) { continues_ = continues; }

  void write_ascii(int column, const char* text, int count, const Style& style);
  /// Writes the code point and, if it is wide, its spacer. The columns exist.
  void write(int column, char32_t code, int columns, const Style& style);
  void write_filler(int column, const Style& style);
  /// Adds a character to the cluster of a cell; false when the cluster is full.
  bool extend(int column, char32_t code);
  /// Makes a narrow cell wide; the next column exists.
  void widen(int column);
  /// Copies a cell with its cluster from another row.
  void copy_cell(int column, const Row& from, int from_column);

  /// Changes the style of a cell and its spacer.
  void restyle(int column, const Style& style);

  void clear(const Style& style);
  void erase(int from, int to, const Style& style);  // [from, to)
  void insert(int column, int count, const Style& style);
  void remove(int column, int count, const Style& style);
  void resize(int columns);

  /// Same text and styles; `continues` is not compared.
  [[nodiscard]] bool same_cells(const Row& other) const;

 private:
  /// Ensures that no wide character extends across the left edge of `column`.
  void cut_before(int column, const Style& style);
  Cell& at(int column) { return cells_[static_cast<std::size_t>(column)]; }
  void drop_unused_clusters();
  void append_range(std::string& out, int end) const;

  std::vector<Cell> cells_;
  std::vector<std::string> clusters_;
  bool continues_ = false;
};

}  // namespace relay::terminal
