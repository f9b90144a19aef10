/// The lines that were entered, for going back to them. Kept in memory only: what was said is in the message log.
///
/// Invariants: at most kMaxHistoryLines lines and kMaxHistoryBytes bytes, the oldest go first; no line twice in a row.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace relay::cli {

inline constexpr std::size_t kMaxHistoryLines = 1'000;
inline constexpr std::size_t kMaxHistoryBytes = 1024 * 1024;

class LineHistory {
 public:
  void add(std::string line);
  [[nodiscard]] std::size_t size() const { return lines_.size(); }
  /// From the oldest, 0.
  [[nodiscard]] const std::string& at(std::size_t index) const { return lines_[index]; }
  /// The newest line before `index` that contains the words.
  [[nodiscard]] std::optional<std::size_t> find_before(std::size_t index, std::string_view words) const;

 private:
  std::deque<std::string> lines_;
  std::size_t bytes_ = 0;
};

}  // namespace relay::cli
