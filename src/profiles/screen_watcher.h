/// Watches one agent's screen: reports changes of its state, dialogs, and commands once its turn is over.
///
/// Time and screen are arguments. No command is extracted from an incomplete frame, from an open turn, or from rows that
/// are not the agent's text.
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

inline constexpr Millis kMinUpdateInterval{10};  // a flood of output needs no more updates
inline constexpr Millis kMaxFrame{2'000};        // after which a frame that has not ended counts as complete
inline constexpr Millis kStableTime{600};        // after which an unchanged idle screen ends the turn
inline constexpr Millis kVanished{1'000};  // after which a missing composer is covered; an ending agent exits sooner
inline constexpr Millis kUnknownScreenDelay{8'000};  // after which an unchanged, undescribed screen needs the user
inline constexpr Millis kMaxUnknownScreen{30'000};   // after which one that changes does, too
inline constexpr Millis kReadyTimeout{5'000};        // after which a visible composer is usable, even without `ready`
inline constexpr Millis kIdleTimeout{10'000};        // after which a silent line-mode program may show a question

struct StateChanged {
  StateEstimate estimate;
};
struct CommandSeen {
  commands::Command command;
};
using Observation = std::variant<StateChanged, CommandSeen, profiles::PermissionDialog, profiles::QuestionDialog,
                                 profiles::ScreenUsage, profiles::ScreenLimit>;

class ScreenWatcher {
 public:
  explicit ScreenWatcher(const CompiledProfile& compiled, commands::GrammarOptions grammar = {});

  /// Called after the screen changed, and at `next_update_at`.
  std::vector<Observation> update(const terminal::Screen& screen, SteadyTime now);
  [[nodiscard]] std::optional<SteadyTime> next_update_at() const;
  /// The program has ended: returns its last output, if its turn was over. A missing composer does not matter.
  std::vector<Observation> finish();

  /// The screen is being drawn: the last state still counts, and nothing may be typed.
  [[nodiscard]] bool mid_frame() const { return frame_ends_.has_value(); }
  /// When an unknown screen first replaced the composer; none while the composer is visible.
  [[nodiscard]] std::optional<SteadyTime> covered_since() const { return covered_since_; }
  /// The program has not accepted prompts yet. Unknown for a profile without a composer.
  [[nodiscard]] bool is_starting() const { return profile_.has_composer() && !ready_; }
  [[nodiscard]] const StateEstimate& estimate() const { return estimate_; }
  [[nodiscard]] const ScreenAnalysis& analysis() const { return analysis_; }

 private:
  /// The parts of a screen whose change requires an update.
  struct ScreenKey {
    std::uint64_t revision = 0;
    int cursor_row = 0;
    bool takes_pastes = false;
    std::string title;
    terminal::ProgramStatus status;
    bool operator==(const ScreenKey&) const = default;
  };

  [[nodiscard]] std::optional<SteadyTime> turn_ends_at() const;
  [[nodiscard]] std::optional<SteadyTime> idle_timeout_at() const;
  [[nodiscard]] std::optional<SteadyTime> unknown_screen_due_at() const;
  [[nodiscard]] std::optional<SteadyTime> started_at() const;
  [[nodiscard]] bool has_just_vanished(const StateEstimate& estimate, SteadyTime now);
  void update_unknown_screen(const ScreenFrame& frame, StateEstimate& estimate, SteadyTime now);
  void update_readiness(const ScreenFrame& frame, StateEstimate& estimate, SteadyTime now);
  void report_findings(std::vector<Observation>& out);
  void extract_turn(std::vector<Observation>& out);

  const CompiledProfile& profile_;
  commands::GrammarOptions grammar_;
  StateClassifier classifier_;
  ConversationTracker conversation_;
  ScreenAnalysis analysis_;
  StateEstimate estimate_;
  std::optional<ScreenKey> last_key_;
  std::uint64_t conversation_revision_ = 0;
  SteadyTime stable_since_{};
  SteadyTime drawn_at_{};
  std::optional<SteadyTime> frame_since_;
  std::optional<SteadyTime> vanished_since_;                // the composer disappeared for no recognized reason
  std::optional<SteadyTime> covered_since_;                 // since when no composer row is drawn
  std::optional<SteadyTime> unknown_since_;                 // an undescribed screen replaces the composer
  std::optional<profiles::QuestionDialog> unknown_screen_;  // reported after some time, with this text
  SteadyTime unknown_screen_read_at_{};
  std::optional<SteadyTime> composer_since_;  // when the first composer appeared
  bool ready_ = false;                        // the program accepts prompts
  std::optional<SteadyTime> frame_ends_;      // mid_frame(): the latest end of the frame
  bool turn_open_ = false;                    // it has worked since its last turn ended
  bool idle_after_turn_ = false;              // and is idle since
  std::uint64_t rows_extracted_ = 0;
  std::string permission_, question_;        // already reported
  std::vector<std::string> usage_, limits_;  // reported in this turn
};

}  // namespace relay::profiles
