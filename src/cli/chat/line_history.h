/// The history of entered lines. In memory only: sent messages are in the message log.
///
/// Invariants: at most kMaxHistoryLines lines and kMaxHistoryBytes bytes, the oldest are dropped first; no line twice in a row.
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
  /// 0 is the oldest.
  [[nodiscard]] const std::string& at(std::size_t index) const { return lines_[index]; }
  /// The newest line before `index` that contains `words`.
  [[nodiscard]] std::optional<std::size_t> find_before(std::size_t index, std::string_view words) const;

 private:
  std::deque<std::string> lines_;
  std::size_t bytes_ = 0;
};

}  // namespace relay::cli
