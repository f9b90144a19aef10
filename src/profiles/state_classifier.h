/// Classifies what an agent is doing, with the evidence.
///
/// Sources: the program's own status, its title, its screen. Precedence: blocked, working, idle. One source that forbids
///   typing is enough. A screen without the composer, once one has been seen, is an unknown dialog and counts as blocked,
///   never as idle. A line-mode program has no prompt while it works either: when it reads no keys, it is presumed to be
///   working until kIdleTimeout.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/compiled_profile.h"

namespace relay::profiles {

enum class State : std::uint8_t {
  Unknown,  // not ready yet, or no evidence
  Idle,     // the composer is visible, focused and empty
  Typing,   // the composer has a draft
  Working,
  Blocked,  // a dialog is open, or an unknown screen
};
std::string_view name_of(State state);

inline constexpr std::string_view kUnrecognizedScreen = "the agent shows an unrecognized screen";

/// Why an agent counts as blocked.
enum class Blocker : std::uint8_t {
  Dialog,         // the program reports one, or one is recognized
  UnknownScreen,  // no composer is drawn, and the screen is unknown
  Silent,         // no prompt is drawn, and there was no output for kIdleTimeout
};

/// For users: why nothing is typed to a blocked agent. Mentions a dialog only where one is recognized.
[[nodiscard]] std::string_view reason_of(Blocker blocker);

struct Evidence {
  std::string_view source;  // status, title, screen, composer
  std::string detail;
};

struct StateEstimate {
  State state = State::Unknown;
  std::vector<Evidence> evidence = {};
  bool presumed = false;              // working only because the prompt disappeared: valid while it writes output
  Blocker blocker = Blocker::Dialog;  // only if blocked
  bool vanished = false;  // the composer is missing or without its cursor, for an unknown reason: it may be redrawn
};

class StateClassifier {
 public:
  explicit StateClassifier(const CompiledProfile& compiled) : profile_{compiled} {}

  StateEstimate classify(const ScreenFrame& frame, const ScreenAnalysis& analysis);
  /// A composer was seen once.
  [[nodiscard]] bool was_ready() const { return was_ready_; }
  /// An agent presumed to be working has had no output for a long time: it may show a question.
  static void mark_silent(StateEstimate& estimate);
  /// A screen has been visible for a long time and no composer was ever seen: it needs the user.
  static void mark_unknown_screen(StateEstimate& estimate);
  /// The composer is drawn, and the program does not accept prompts yet.
  static void mark_not_ready(StateEstimate& estimate);

 private:
  const CompiledProfile& profile_;
  bool was_ready_ = false;  // a composer was seen once
};

}  // namespace relay::profiles
