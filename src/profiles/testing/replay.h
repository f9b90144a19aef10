/// A recording watched as a host would watch the agent: bytes in, observations out, on the recording's own clock.
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
  /// The verdict that held at that time.
  [[nodiscard]] State state_at(double seconds) const;
  [[nodiscard]] std::vector<commands::SendCommand> commands() const;
};

/// How output is cut on its way in. It is looked at after each piece, but for EveryByte.
enum class Cut { AsRecorded, EveryByte, Halves, Pieces };

Watched watch(const CompiledProfile& eyes, const terminal::testing::Recording& recording, Cut cut = Cut::AsRecorded);

}  // namespace relay::profiles::testing
