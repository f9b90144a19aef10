/// Captures of the event stream of OpenCode 1.18.33, shortened (testdata/opencode).
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "base/json.h"

namespace relay::adapters::testing {

inline std::vector<std::string> captured_lines(const std::string& name) {
  std::ifstream file{std::string{RELAY_ADAPTERS_TESTDATA} + "/opencode/" + name + ".jsonl"};
  RELAY_ASSERT(file.is_open());
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

inline std::vector<json::object> captured(const std::string& name) {
  std::vector<json::object> events;
  for (const auto& line : captured_lines(name)) {
    auto event = parse_json_object(line);
    RELAY_ASSERT(event.has_value());
    events.push_back(*std::move(event));
  }
  return events;
}

}  // namespace relay::adapters::testing
