/// A prompt tracker in a test: events as lines, on a manual clock.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "host/prompts/prompt_tracker.h"

namespace relay::host::testing {

using adapters::Prompt;
using adapters::PromptOutcome;
using profiles::State;

struct PromptFixture : ::testing::Test {
  using Lines = std::vector<std::string>;

  PromptTracker tracker{"h7"};
  Timestamp now{SteadyTime{std::chrono::seconds{100}}, 5'000};

  static Lines lines(const PromptTracker::Events& events) {
    Lines all;
    for (const auto& event : events) {
      const auto members = events::members_of(event);
      EXPECT_TRUE(events::read_event(events::type_of(event), members)) << json::serialize(members);
      all.push_back(format("{} {}", events::type_of(event), json::serialize(members)));
    }
    return all;
  }
  static Prompt bash(std::string id) {
    return {
        .id = std::move(id), .tool = "Bash", .summary = "Bash: make", .input = R"({"command":"make"})", .via = "hook"};
  }
  static profiles::ScreenFindings dialog(std::string command) {
    profiles::ScreenFindings findings;
    findings.permission = {0, "shell", "Shell", std::move(command), {}};
    return findings;
  }
  Lines update(State state, const profiles::ScreenFindings& findings = {}) {
    return lines(tracker.update(state, findings, now));
  }
  Lines close(const std::string& prompt, PromptOutcome end, std::optional<AnswerRecord> answered = {}) {
    return lines(tracker.on_closed(prompt, end, answered, now));
  }
  /// A call starts, with that command; empty: none is known.
  void start_call(std::string id, const char* tool, const std::string& command = {}) {
    json::object metadata{{"tool", tool}};
    if (!command.empty()) metadata["input"] = json::object{{"command", command}};
    EXPECT_TRUE(
        tracker.on_event(events::ItemStarted{.item_id = std::move(id), .metadata = std::move(metadata)}, 1).empty());
  }
  Lines end_call(std::string id, bool failed) {
    return lines(tracker.on_event(
        events::ItemCompleted{.item_id = std::move(id), .result = json::object{{"failed", failed}}}, 1));
  }
  void advance(Millis time) { now.steady += time, now.wall += time.count(); }
};

}  // namespace relay::host::testing
