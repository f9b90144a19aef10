/// Prompts of agents as users see them: open ones, and how each was resolved.
#pragma once

#include <sstream>

#include "base/format.h"
#include "cli/agents.h"

namespace relay::cli_tests {

using Texts = std::vector<std::string>;

/// The asking agent is Bob.
struct Asking : Agents {
  std::vector<json::object> open(const std::string& list = "permissions") {
    std::vector<json::object> all;
    const auto answer = box.ok_json({list});
    for (const auto& prompt : *array_member(answer, "prompts")) all.push_back(prompt.as_object());
    return all;
  }
  /// Waits for the open prompt.
  json::object asked(const std::string& list = "permissions") {
    std::vector<json::object> all;
    EXPECT_TRUE(until([&] { return (all = open(list)).size() == 1; }));
    return all.empty() ? json::object{} : all.front();
  }
  bool none_open(const std::string& list = "permissions") {
    return until([&] { return open(list).empty(); });
  }
  static std::string word(const json::object& object, std::string_view name) {
    return string_member(object, name).value_or("");
  }
  std::vector<json::object> log(const std::string& type) {
    std::vector<json::object> all;
    std::istringstream lines{box.ok({"events", "--json", "--agent", "Bob", "--types", type})};
    for (std::string line; std::getline(lines, line);) all.push_back(*parse_json_object(line));
    return all;
  }
  /// How each prompt was resolved: `approved by human`; for questions the answer and who gave it.
  Texts resolved(const std::string& type = "permission.resolved") {
    Texts all;
    for (const auto& event : log(type))
      all.push_back(format("{}{} by {}", word(event, "resolution"), word(event, "answer"), word(event, "resolvedBy")));
    return all;
  }
};

}  // namespace relay::cli_tests
