/// Tab stops: every eighth column unless the program changes them.
#pragma once

#include <vector>

namespace relay::terminal {

class TabStops {
 public:
  explicit TabStops(int columns) { resize(columns); }

  void set(int column) { stops_[static_cast<std::size_t>(column)] = true; }
  void clear(int column) { stops_[static_cast<std::size_t>(column)] = false; }
  void clear_all() { stops_.assign(stops_.size(), false); }
  void reset() {
    for (std::size_t column = 0; column < stops_.size(); ++column) stops_[column] = column % kEvery == 0;
  }
  /// New columns get default stops, the others keep theirs.
  void resize(int columns) {
    const std::size_t before = stops_.size();
    stops_.resize(static_cast<std::size_t>(columns));
    for (std::size_t column = before; column < stops_.size(); ++column) stops_[column] = column % kEvery == 0;
  }

  /// The next stop right of `column`, or the last column.
  [[nodiscard]] int next(int column) const {
    do ++column;
    while (column < last() && !stops_[static_cast<std::size_t>(column)]);
    return column < last() ? column : last();
  }
  /// The next stop left of `column`, or the first column.
  [[nodiscard]] int previous(int column) const {
    do --column;
    while (column > 0 && !stops_[static_cast<std::size_t>(column)]);
    return column > 0 ? column : 0;
  }
  [[nodiscard]] bool at(int column) const { return stops_[static_cast<std::size_t>(column)]; }
  [[nodiscard]] bool is_default() const {
    for (std::size_t column = 0; column < stops_.size(); ++column)
      if (stops_[column] != (column % kEvery == 0)) return false;
    return true;
  }
  bool operator==(const TabStops&) const = default;

 private:
  static constexpr std::size_t kEvery = 8;
  [[nodiscard]] int last() const { return static_cast<int>(stops_.size()) - 1; }

  std::vector<bool> stops_;
};

}  // namespace relay::terminal
