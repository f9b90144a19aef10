/// Plays a recording as a host watches the agent: bytes in, observations out, on the recording's clock.
#pragma once

#include <string>
#include <vector>

#include "profiles/screen_watcher.h"
#include "terminal/testing/recording.h"

namespace relay::profiles::testing {

struct Moment {
  double seconds = 0;
  Observation observation;
};

struct Watched {
  std::vector<Moment> moments;
  /// The state at that time.
  [[nodiscard]] State state_at(double seconds) const;
  [[nodiscard]] std::vector<commands::SendCommand> commands() const;
};

/// How the output is split. The watcher updates after each part, except with EveryByte.
enum class Cut { AsRecorded, EveryByte, Halves, Pieces };

Watched watch(const CompiledProfile& compiled, const terminal::testing::Recording& recording,
              Cut cut = Cut::AsRecorded);

}  // namespace relay::profiles::testing
