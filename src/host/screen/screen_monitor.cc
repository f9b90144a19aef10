#include "host/screen/screen_monitor.h"

#include <algorithm>

namespace relay::host {
namespace {

constexpr std::size_t kMaxFeedBytes = 8 * 1024;

/// The length of output that can be fed before the next update without losing rows.
std::size_t end_of_piece(std::string_view bytes) {
  std::size_t at = 0;
  for (std::size_t rows = 0; rows < profiles::kHistoryRows / 4 && at < bytes.size(); ++rows) {
    const auto end = bytes.find('\n', at);
    at = end == std::string_view::npos ? bytes.size() : end + 1;
  }
  return std::min(at, kMaxFeedBytes);
}

}  // namespace

Result<void> ScreenMonitor::open(const profiles::Profile& profile, pty::WindowSize size, SteadyTime now) {
  profile_ = std::make_unique<profiles::CompiledProfile>(RELAY_TRY(profiles::CompiledProfile::open(profile)));
  watcher_ = std::make_unique<profiles::ScreenWatcher>(*profile_);
  screen_.resize(cells(size));
  since_ = now;
  return {};
}

void ScreenMonitor::feed(std::string_view bytes, const std::function<void()>& update_now) {
  while (!bytes.empty()) {
    const auto piece = bytes.substr(0, end_of_piece(bytes));
    bytes.remove_prefix(piece.size());
    screen_.feed(piece);
    if (screen_.scrollback().end() - updated_row_ > profiles::kHistoryRows / 2) update_now();
  }
}

bool ScreenMonitor::resize(pty::WindowSize size) {
  if (cells(size) == screen_.size()) return false;
  screen_.resize(cells(size));
  return true;
}

std::vector<profiles::Observation> ScreenMonitor::update(SteadyTime now) {
  updated_at_ = now;
  updated_row_ = screen_.scrollback().end();
  auto observations = watcher_->update(screen_, now);
  for (const auto& observation : observations) {
    const auto* changed = std::get_if<profiles::StateChanged>(&observation);
    if (changed == nullptr) continue;
    state_ = changed->estimate.state;
    since_ = now;
  }
  return observations;
}

}  // namespace relay::host
