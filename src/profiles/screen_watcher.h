/// Follows one agent's screen: says when its state changes, what it asks, and what it said once its turn is over.
///
/// Time and screen come in as arguments. Nothing is heard from a half-drawn frame, from a turn that goes on, or from
/// rows that are not the agent's own words.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "commands/command.h"
#include "commands/grammar_options.h"
#include "profiles/conversation_tracker.h"
#include "profiles/state_classifier.h"

namespace relay::profiles {

inline constexpr Millis kMinUpdateInterval{10};  // a flood need not be looked at more often
inline constexpr Millis kMaxFrame{2'000};        // a program that long in the middle of a frame has forgotten to end it
inline constexpr Millis kSettle{600};            // an idle screen that long unchanged has ended its turn
inline constexpr Millis kVanished{
    1'000};  // a composer that long gone is covered by something; an agent that ends is faster
inline constexpr Millis kStrange{8'000};         // a screen nobody described, that long unchanged, waits for a person
inline constexpr Millis kStrangeAtMost{30'000};  // and so does one that is there that long, whatever moves on it
inline constexpr Millis kStart{5'000};           // a composer that long there is used, whether `ready` was seen or not
inline constexpr Millis kIdleTimeout{10'000};  // a line-mode program that long silent without its prompt may be asking

struct StateChanged {
  StateEstimate verdict;
};
struct CommandSeen {
  commands::Command utterance;
};
using Observation = std::variant<StateChanged, CommandSeen, profiles::PermissionDialog, profiles::QuestionDialog,
                                 profiles::ScreenUsage, profiles::ScreenLimit>;

class ScreenWatcher {
 public:
  explicit ScreenWatcher(const CompiledProfile& eyes, commands::GrammarOptions grammar = {});

  /// To be called after the screen changed, and at `look_again_at`.
  std::vector<Observation> update(const terminal::Screen& screen, SteadyTime now);
  [[nodiscard]] std::optional<SteadyTime> next_update_at() const;
  /// The program has ended: what it said last, if its turn was over. That it took its composer away does not matter.
  std::vector<Observation> finish();

  /// The screen is being drawn: what it showed last is still what counts, and nothing may be typed on it.
  [[nodiscard]] bool mid_frame() const { return frame_ends_.has_value(); }
  /// Something that is not known was first drawn in place of the composer then; none while the composer is seen.
  [[nodiscard]] std::optional<SteadyTime> covered_since() const { return covered_since_; }
  /// The program has not taken prompts yet. A profile that describes no composer cannot tell.
  [[nodiscard]] bool is_starting() const { return eyes_.has_composer() && !ready_; }
  [[nodiscard]] const StateEstimate& verdict() const { return verdict_; }
  [[nodiscard]] const ScreenAnalysis& picture() const { return picture_; }

 private:
  /// What a screen must differ in to be looked at again.
  struct ScreenKey {
    std::uint64_t revision = 0;
    int cursor_row = 0;
    bool takes_pastes = false;
    std::string title;
    terminal::ProgramStatus status;
    bool operator==(const ScreenKey&) const = default;
  };

  [[nodiscard]] std::optional<SteadyTime> settled_at() const;
  [[nodiscard]] std::optional<SteadyTime> silent_at() const;
  [[nodiscard]] std::optional<SteadyTime> strange_at() const;
  [[nodiscard]] std::optional<SteadyTime> started_at() const;
  [[nodiscard]] bool has_just_vanished(const StateEstimate& verdict, SteadyTime now);
  void notice_strangeness(const ScreenFrame& sight, StateEstimate& verdict, SteadyTime now);
  void notice_start(const ScreenFrame& sight, StateEstimate& verdict, SteadyTime now);
  void report_findings(std::vector<Observation>& out);
  void hear_turn(std::vector<Observation>& out);

  const CompiledProfile& eyes_;
  commands::GrammarOptions grammar_;
  StateClassifier judge_;
  ConversationTracker conversation_;
  ScreenAnalysis picture_;
  StateEstimate verdict_;
  std::optional<ScreenKey> seen_;
  std::uint64_t conversation_revision_ = 0;
  SteadyTime quiet_since_{};
  SteadyTime drawn_at_{};
  std::optional<SteadyTime> frame_since_;
  std::optional<SteadyTime> vanished_since_;         // the composer is gone, and nothing shows why
  std::optional<SteadyTime> covered_since_;          // the same, from when on it was not there at all
  std::optional<SteadyTime> strange_since_;          // something that nobody described stands in place of the composer
  std::optional<profiles::QuestionDialog> strange_;  // for so long that it is told, as it is told
  SteadyTime strange_read_at_{};
  std::optional<SteadyTime> composer_since_;  // the first composer was drawn then
  bool ready_ = false;                        // the program takes prompts
  std::optional<SteadyTime> frame_ends_;      // mid_frame(): by then at the latest
  bool turn_open_ = false;                    // it has worked since its last turn ended
  bool rested_ = false;                       // and then come to rest
  std::uint64_t rows_heard_ = 0;
  std::string permission_, question_;        // told already
  std::vector<std::string> usage_, limits_;  // told in this turn
};

}  // namespace relay::profiles
