/// Recorded sessions of real agents (agents/*/recordings), for tests.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "terminal/geometry.h"

namespace relay::terminal::testing {

struct RecordedEvent {
  double seconds = 0;
  char kind = 0;  // o output, i input, r resize, m marker
  std::string data{};
};

/// The screen of another emulator at a labeled time.
struct RecordedScreen {
  double seconds = 0;
  std::string label{};
  std::vector<std::string> lines{};
  Position cursor{};
};

struct Recording {
  std::string name{};
  Size size{};
  std::vector<RecordedEvent> events{};
  std::vector<RecordedScreen> screens{};
  json::object meta{};  // other facts about the recording

  /// All output of the agent in one string, without resizes.
  [[nodiscard]] std::string output() const;
};

/// The casts of all recordings below a folder, sorted by name.
std::vector<std::filesystem::path> recordings_below(const std::filesystem::path& folder);

Result<Recording> read_recording(const std::filesystem::path& cast);

/// "120x40" of a resize event.
Size size_of(const std::string& text);

}  // namespace relay::terminal::testing
