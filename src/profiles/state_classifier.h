/// What an agent is doing, and how we know.
///
/// Several witnesses are heard: the program's own status, its title, its screen. Blocked wins over working, working
/// over idle: whoever says "do not type" is believed. A screen without the composer, once one was seen, is a dialog we
/// do not know, and counts as blocked, never as idle. A line-mode program has no prompt while it works either: when it
/// reads no keys, it is taken to work until it falls silent.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/compiled_profile.h"

namespace relay::profiles {

enum class State : std::uint8_t {
  Unknown,  // not ready yet, or nothing to judge by
  Idle,     // the composer is there, in focus and empty
  Typing,   // the composer holds a draft
  Working,
  Blocked,  // it asks something, or shows what we do not know
};
std::string_view name_of(State state);

inline constexpr std::string_view kNotUnderstood = "the agent shows a screen that is not understood";

/// Why an agent counts as blocked.
enum class Blocker : std::uint8_t {
  Known,          // it says so itself, or its dialog is recognised
  UnknownScreen,  // no composer is drawn, and nothing says what stands in its place
  Silence,        // nothing is drawn, and it has been silent for long
};

/// For users: why nothing is typed to a blocked agent. A dialog is named only where one is known.
[[nodiscard]] std::string_view reason_of(Blocker blocker);

struct Evidence {
  std::string_view source;  // status, title, screen, composer
  std::string detail;
};

struct StateEstimate {
  State state = State::Unknown;
  std::vector<Evidence> evidence = {};
  bool presumed = false;             // working only because the prompt is gone: true as long as something is written
  Blocker blocker = Blocker::Known;  // of a blocked one
  bool vanished = false;  // the composer is gone or without its cursor, and nothing else is known: it may be redrawn
};

class StateClassifier {
 public:
  explicit StateClassifier(const CompiledProfile& eyes) : eyes_{eyes} {}

  StateEstimate classify(const ScreenFrame& sight, const ScreenAnalysis& picture);
  /// A composer was seen once.
  [[nodiscard]] bool was_ready() const { return was_ready_; }
  /// A presumed worker has been silent for long: it may as well wait for an answer.
  static void mark_silent(StateEstimate& verdict);
  /// Something has stood there for long and no composer was ever seen: it wants something of a person.
  static void not_understood(StateEstimate& verdict);
  /// The composer is drawn, and the program does not take prompts yet.
  static void not_ready(StateEstimate& verdict);

 private:
  const CompiledProfile& eyes_;
  bool was_ready_ = false;  // a composer was seen once
};

}  // namespace relay::profiles
