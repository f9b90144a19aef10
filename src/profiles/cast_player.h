/// Plays a recorded session (asciinema v2) through the watcher of a host: one line in, observations out.
///
/// The clock is the recording's. Errors name the line number; sizes are bounded.
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
  explicit CastPlayer(const CompiledProfile& compiled, commands::GrammarOptions grammar = {});
  ~CastPlayer();

  /// The header first, then the events.
  Result<std::vector<TimedObservation>> take(std::string_view line);
  /// Ends the recording: returns pending observations.
  std::vector<TimedObservation> finish();

 private:
  void update(double seconds, std::vector<TimedObservation>& out);
  void advance_to(double seconds, std::vector<TimedObservation>& out);
  Result<void> take_header(std::string_view line);

  ScreenWatcher watcher_;
  std::unique_ptr<terminal::Screen> screen_;
  std::size_t lines_ = 0;
  double now_ = 0;
  bool was_alternate_ = false;
  bool ended_ = false;  // a full-screen agent has left its screen
};

}  // namespace relay::profiles
