/// The log of the scripted agent for tests, one JSON object per line.
///
/// Each line is one write, so a test may read while the agent runs and after it was killed. An event is logged before its
/// effect is on the screen, so every visible reaction has its line.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/unique_fd.h"

namespace relay::scripted_agent {

class Journal {
 public:
  /// Writes nothing.
  Journal() = default;
  /// Appends to the file.
  static Result<Journal> open(const std::string& path);

  void note(std::string_view event, json::object fields = {}) const;

 private:
  UniqueFd file_;
};

}  // namespace relay::scripted_agent
