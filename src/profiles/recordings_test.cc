// Recordings of real agents: all commands and nothing else, and the right state at every marked time.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "base/format.h"
#include "profiles/registry.h"
#include "profiles/testing/replay.h"

namespace relay::profiles {
namespace {

using terminal::testing::Recording;

struct Score {
  std::size_t expected = 0, missed = 0, fenced = 0, wrong = 0, wrong_states = 0;
};

/// Blanks are not compared: a tab or a hard break is a blank on a screen.
std::string squeezed(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (c != ' ' && c != '\t' && c != '\n') out += c;
  return out;
}

std::vector<std::string> expected_of(const Recording& recording) {
  std::vector<std::string> all;
  if (const auto* list = array_member(recording.meta, "relay_expected"))
    for (const auto& each : *list)
      if (string_member(each.as_object(), "body") != "<<<")  // a body of several lines: it is in model_events
        all.push_back(string_member(each.as_object(), "to").value_or("") + "|" +
                      squeezed(string_member(each.as_object(), "body").value_or("")));
  return all;
}

/// All text of the model without blanks: unexpected commands must at least be part of it.
std::string markdown_of(const Recording& recording) {
  std::string all;
  if (const auto* events = array_member(recording.meta, "model_events"))
    for (const auto& event : *events) all += string_member(event.as_object(), "text").value_or("");
  return all;
}

std::optional<State> wanted_at(const std::string& label) {
  if (label.starts_with("first run: ")) return State::Blocked;
  if (label.starts_with("permission prompt") || label == "question" || label == "dialog") return State::Blocked;
  if (label.starts_with("idle") || label == "still idle" || label == "after reply" || label.starts_with("answer "))
    return State::Idle;
  if (label == "typing") return State::Typing;
  if (label == "busy" || label == "busy 2" || label == "tool running" || label == "tool running, no output")
    return State::Working;
  return std::nullopt;
}

class Recordings : public ::testing::TestWithParam<const char*> {};

Score score_of(const CompiledProfile& compiled, const Recording& recording, testing::Cut cut) {
  Score score;
  const auto watched = testing::watch(compiled, recording, cut);
  auto missing = expected_of(recording);
  score.expected = missing.size();
  const auto markdown = squeezed(markdown_of(recording));
  for (const auto& command : watched.commands()) {
    const auto extracted = command.to + "|" + squeezed(command.body);
    const auto found = std::ranges::find(missing, extracted);
    if (found != missing.end()) {
      missing.erase(found);
      continue;
    }
    const bool fenced =
        markdown.find("```") != std::string::npos && markdown.find(squeezed(command.body)) != std::string::npos;
    const bool block = markdown.find("[[RELAY]]") != std::string::npos || markdown.find("<<<") != std::string::npos;
    if (block) continue;
    ++(fenced ? score.fenced : score.wrong);
    if (!fenced) std::cout << "  " << recording.name << ": unexpected " << command.to << ": " << command.body << "\n";
  }
  score.missed = missing.size();
  for (const auto& each : missing) std::cout << "  " << recording.name << ": missed " << each << "\n";
  for (const auto& screen : recording.screens) {
    const auto wanted = wanted_at(screen.label);
    if (!wanted) continue;
    const auto state = watched.state_at(screen.seconds);
    if (state == *wanted) continue;
    ++score.wrong_states;
    std::cout << "  " << recording.name << ": " << name_of(state) << " at '" << screen.label << "' " << screen.seconds
              << "\n";
  }
  return score;
}

std::vector<Recording> all_of(const std::string& agent) {
  std::vector<Recording> all;
  for (const auto& path :
       terminal::testing::recordings_below(std::filesystem::path{RELAY_AGENTS} / agent / "recordings")) {
    auto recording = terminal::testing::read_recording(path);
    EXPECT_TRUE(recording) << path;
    if (recording) all.push_back(*std::move(recording));
  }
  return all;
}

TEST_P(Recordings, YieldAllCommandsAndNothingElse) {
  const auto compiled = CompiledProfile::open(*find_profile(GetParam()));
  ASSERT_TRUE(compiled) << compiled.error().message();
  Score all;
  for (const auto& recording : all_of(GetParam())) {
    const auto score = score_of(*compiled, recording, testing::Cut::AsRecorded);
    all.expected += score.expected;
    all.missed += score.missed;
    all.fenced += score.fenced;
    all.wrong += score.wrong;
    all.wrong_states += score.wrong_states;
  }
  std::cout << GetParam() << ": " << all.expected << " messages, " << all.missed << " missed, " << all.fenced
            << " from code fences, " << all.wrong << " wrong; " << all.wrong_states << " states wrong\n";
  EXPECT_LE(static_cast<double>(all.missed), 0.03 * static_cast<double>(all.expected));
  EXPECT_EQ(all.wrong, 0u);
  EXPECT_EQ(all.wrong_states, 0u);
}

TEST_P(Recordings, YieldTheSameForAnySplit) {
  const auto compiled = CompiledProfile::open(*find_profile(GetParam()));
  for (const auto& recording : all_of(GetParam())) {
    const auto whole = testing::watch(*compiled, recording).commands();
    for (const auto cut : {testing::Cut::EveryByte, testing::Cut::Halves})
      EXPECT_EQ(testing::watch(*compiled, recording, cut).commands(), whole) << recording.name;
  }
}

/// A dialog that is drawn or erased in parts may be visible slightly longer or shorter.
TEST_P(Recordings, AreNotBlockedByASplitFrame) {
  constexpr double kAround = 0.3;
  const auto compiled = CompiledProfile::open(*find_profile(GetParam()));
  for (const auto& recording : all_of(GetParam())) {
    const auto whole = testing::watch(*compiled, recording);
    const auto blocked_around = [&](double seconds) {
      if (whole.state_at(seconds - kAround) == State::Blocked) return true;
      return std::ranges::any_of(whole.moments, [&](const testing::Moment& moment) {
        const auto* changed = std::get_if<StateChanged>(&moment.observation);
        return changed != nullptr && changed->estimate.state == State::Blocked &&
               std::abs(moment.seconds - seconds) <= kAround;
      });
    };
    for (const auto cut : {testing::Cut::Halves, testing::Cut::Pieces})
      for (const auto& moment : testing::watch(*compiled, recording, cut).moments) {
        const auto* changed = std::get_if<StateChanged>(&moment.observation);
        if (changed == nullptr || changed->estimate.state != State::Blocked) continue;
        EXPECT_TRUE(blocked_around(moment.seconds))
            << recording.name << " at " << moment.seconds << ": " << changed->estimate.evidence.back().detail;
      }
  }
}

TEST_P(Recordings, ShowEveryDialogWithItsSubject) {
  const auto compiled = CompiledProfile::open(*find_profile(GetParam()));
  for (const auto& recording : all_of(GetParam())) {
    const auto watched = testing::watch(*compiled, recording);
    for (const auto& screen : recording.screens) {
      const bool permission = screen.label == "permission prompt" || screen.label == "dialog";
      if (!permission && screen.label != "question") continue;
      bool found = false;
      for (const auto& moment : watched.moments) {
        if (moment.seconds > screen.seconds) break;
        if (const auto* dialog = std::get_if<profiles::PermissionDialog>(&moment.observation); dialog && permission)
          found = !dialog->tool.empty() && !dialog->command.empty() && !dialog->choices.empty();
        if (const auto* dialog = std::get_if<profiles::QuestionDialog>(&moment.observation); dialog && !permission)
          found = !dialog->text.empty() && !dialog->choices.empty();
      }
      EXPECT_TRUE(found) << recording.name << " at '" << screen.label << "'";
    }
  }
}

/// Each recording starts on it, and none returns to it.
TEST(OpenCodeStartPage, IsFoundUntilTheFirstPrompt) {
  const auto compiled = CompiledProfile::open(*find_profile("opencode"));
  for (const auto& recording : all_of("opencode")) {
    terminal::Screen screen{recording.size};
    bool started_there = false, left = false;
    for (const auto& event : recording.events) {
      if (event.kind != 'o') continue;
      screen.feed(event.data);
      if (screen.modes().synchronized) continue;
      const bool there = compiled->analyze(read_frame(screen)).start_page;
      EXPECT_FALSE(there && left) << recording.name << " at " << event.seconds;
      started_there = started_there || there;
      left = left || (started_there && screen.title().starts_with("OC | "));
    }
    EXPECT_TRUE(started_there) << recording.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Agents, Recordings,
                         ::testing::Values("aider", "claude", "codex", "gemini", "goose", "opencode"),
                         [](const auto& each) { return std::string{each.param}; });

}  // namespace
}  // namespace relay::profiles
