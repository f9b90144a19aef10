/// Prompts of an agent as users see them: the open ones, and how each was resolved.
#pragma once

#include <sys/stat.h>

#include "base/format.h"
#include "cli/agents.h"

namespace relay::cli_tests {

using Texts = std::vector<std::string>;

/// The prompts of the agent Bob.
struct PromptingAgent : Agents {
  /// `list` is a command: `permissions` or `questions`.
  std::vector<json::object> open_prompts(const std::string& list = "permissions") {
    std::vector<json::object> all;
    const auto answer = box.ok_json({list});
    for (const auto& prompt : *array_member(answer, "prompts")) all.push_back(prompt.as_object());
    return all;
  }
  /// Waits for the only open prompt.
  json::object open_prompt(const std::string& list = "permissions") {
    std::vector<json::object> all;
    EXPECT_TRUE(until([&] { return (all = open_prompts(list)).size() == 1; }));
    return all.empty() ? json::object{} : all.front();
  }
  bool has_no_prompts(const std::string& list = "permissions") {
    return until([&] { return open_prompts(list).empty(); });
  }
  static std::string member(const json::object& object, std::string_view name) {
    return string_member(object, name).value_or("");
  }
  std::vector<json::object> events_of_type(const std::string& type) {
    return parse_json_lines(box.ok({"events", "--json", "--agent", "Bob", "--types", type}));
  }
  /// How each prompt was resolved: `approved by human`; for questions the answer and its source.
  Texts resolutions(const std::string& type = "permission.resolved") {
    Texts all;
    for (const auto& event : events_of_type(type))
      all.push_back(
          format("{}{} by {}", member(event, "resolution"), member(event, "answer"), member(event, "resolvedBy")));
    return all;
  }
  /// Writes a program that appends the variables of each notification to the file `output`; returns its path.
  std::string write_notify_program(const std::string& output) {
    const auto path = box.write(box.project() + "/notify",
                                "#!/bin/sh\necho \"$AGENT_RELAY_NOTIFY_AGENT $AGENT_RELAY_NOTIFY_KIND "
                                "$AGENT_RELAY_NOTIFY_TEXT\" >> \"" +
                                    output + "\"\n");
    EXPECT_EQ(::chmod(path.c_str(), 0700), 0);
    return path;
  }
};

}  // namespace relay::cli_tests
