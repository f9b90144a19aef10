/// What happened to the scripted agent, one JSON object per line: the judge in tests.
///
/// Every line is written at once and whole, so a test may read while the agent runs, and after it was killed. What
/// happened is noted before anything of it is shown: whoever saw the agent react finds the reason here.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/unique_fd.h"

namespace relay::scripted_agent {

class Journal {
 public:
  /// Says nothing.
  Journal() = default;
  /// Appends to the file.
  static Result<Journal> open(const std::string& path);

  void note(std::string_view event, json::object fields = {}) const;

 private:
  UniqueFd file_;
};

}  // namespace relay::scripted_agent
