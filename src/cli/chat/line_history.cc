#include "cli/chat/line_history.h"

#include <algorithm>

namespace relay::cli {

void LineHistory::add(std::string line) {
  if (line.empty() || (!lines_.empty() && lines_.back() == line)) return;
  bytes_ += line.size();
  lines_.push_back(std::move(line));
  while (lines_.size() > kMaxHistoryLines || (bytes_ > kMaxHistoryBytes && !lines_.empty())) {
    bytes_ -= lines_.front().size();
    lines_.pop_front();
  }
}

std::optional<std::size_t> LineHistory::find_before(std::size_t index, std::string_view words) const {
  for (auto at = std::min(index, lines_.size()); at > 0; --at)
    if (lines_[at - 1].find(words) != std::string::npos) return at - 1;
  return std::nullopt;
}

}  // namespace relay::cli
