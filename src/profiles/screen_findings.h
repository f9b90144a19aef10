/// Combines the detector's matches: the open dialog, usage, and limits that were reached.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/pattern_detector.h"

namespace relay::profiles {

/// The meaning of a choice; only an agent's profile defines it.
enum class ChoiceMeaning : std::uint8_t { Other, Approve, Deny };

struct DialogChoice {
  std::string number = {};  // as drawn; empty for buttons
  std::string label = {};
  std::string key = {};  // the key in the row, `y` or `esc`; may be empty
  bool marked = false;   // Enter would select it
  ChoiceMeaning meaning = ChoiceMeaning::Other;
  std::string shortcut_key = {};  // the name of the key that selects it without Enter; may be empty

  bool operator==(const DialogChoice&) const = default;
};

struct PermissionDialog {
  std::size_t row = 0;  // of its head
  std::string pattern;
  std::string tool;
  std::string command;
  std::vector<DialogChoice> choices;
  std::string body = {};     // its text above the choices, a line per row
  bool is_complete = false;  // the whole dialog is visible, and nothing else there looks like a dialog or a choice
  std::size_t last = 0;      // the row of its last choice
};

/// The pattern of a question for an undescribed screen; its text does not depend on the drawing.
inline constexpr std::string_view kUnknownScreen = "unknown-screen";

struct QuestionDialog {
  std::size_t row = 0;
  std::string pattern;
  std::string text;
  std::vector<DialogChoice> choices;
  std::string body = {};
  bool is_complete = false;
  std::size_t last = 0;
};

struct ScreenUsage {
  std::size_t row = 0;
  std::string pattern;
  std::string model;
  std::optional<std::int64_t> input_tokens;
  std::optional<std::int64_t> output_tokens;
  std::optional<std::int64_t> cached_tokens;
  std::optional<std::int64_t> total_tokens;
  std::optional<double> cost_dollars;
  std::optional<std::int64_t> percent;
};

struct ScreenLimit {
  std::size_t row = 0;
  std::string pattern;
  std::string what;    // in the agent's words
  std::string resets;  // in the agent's words; may be empty
};

struct ScreenFindings {
  std::optional<PermissionDialog> permission;  // the lowest on the screen: older ones have scrolled up
  std::optional<QuestionDialog> question;
  std::vector<ScreenUsage> usage;
  std::vector<ScreenLimit> limits;
  bool of_setup = false;  // permission or question is a setup dialog, and its pattern the dialog's name
};

/// The first row of the dialog with this head; none if it was not found.
using TopOf = std::function<std::optional<std::size_t>(std::size_t head)>;

ScreenFindings detect(const PatternDetector& detector, std::span<const std::string> rows, const TopOf& top_of = {});

/// The text of a dialog's rows: a line for each, without frames and rules.
std::string dialog_text(std::span<const std::string> rows);

/// "11,950" is 11950, "15.2k" is 15200; empty if it is not a count.
std::optional<std::int64_t> parse_count(std::string_view text);

}  // namespace relay::profiles
