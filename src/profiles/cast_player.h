/// Watches a recorded session (asciinema v2) as a host would have watched the agent: one line in, observations out.
///
/// The recording's own times are the clock. Bad lines are named by their number; sizes are held within bounds.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profiles/screen_watcher.h"

namespace relay::profiles {

struct TimedObservation {
  double seconds = 0;
  Observation observation;
};

class CastPlayer {
 public:
  explicit CastPlayer(const CompiledProfile& eyes, commands::GrammarOptions grammar = {});
  ~CastPlayer();

  /// The header first, then the events.
  Result<std::vector<TimedObservation>> take(std::string_view line);
  /// The recording is over: what was still waiting for a quiet moment.
  std::vector<TimedObservation> finish();

 private:
  void update(double seconds, std::vector<TimedObservation>& out);
  void wait_until(double seconds, std::vector<TimedObservation>& out);
  Result<void> take_header(std::string_view line);

  ScreenWatcher watcher_;
  std::unique_ptr<terminal::Screen> screen_;
  std::size_t lines_ = 0;
  double now_ = 0;
  bool was_alternate_ = false;
  bool over_ = false;  // a full-screen agent has left its screen
};

}  // namespace relay::profiles
