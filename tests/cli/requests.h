/// What agents ask, as people see it: what is open, and how each request ended.
#pragma once

#include <sstream>

#include "base/format.h"
#include "cli/agents.h"

namespace relay::cli_tests {

using Texts = std::vector<std::string>;

/// The agent that asks is called Bob.
struct Asking : Agents {
  std::vector<json::object> open(const std::string& list = "permissions") {
    std::vector<json::object> all;
    const auto answer = box.ok_json({list});
    for (const auto& prompt : *array_member(answer, "prompts")) all.push_back(prompt.as_object());
    return all;
  }
  /// The one that is open, once it is.
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
  /// How each request ended: `approved by human`; of questions, what was answered and by whom.
  Texts resolved(const std::string& type = "permission.resolved") {
    Texts all;
    for (const auto& event : log(type))
      all.push_back(format("{}{} by {}", word(event, "resolution"), word(event, "answer"), word(event, "resolvedBy")));
    return all;
  }
};

}  // namespace relay::cli_tests
