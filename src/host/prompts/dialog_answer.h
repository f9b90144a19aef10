/// Answers one dialog on an agent's screen by keys: what to press, when the agent accepted the answer, when it failed.
///
///     Choosing ──another choice marked──▶ Up or Down, one step, until the mark has moved
///        ├ cursor, the wanted choice marked ──▶ (gap) Enter ───────┐
///        ├ the choices name letters ──▶ the letter and Enter ──────┼──▶ Entered ──dialog closed──▶ Accepted
///        ├ each choice has its own key ──▶ that key ───────────────┘
///        └ another dialog, none, the user types: Failed
///
/// Invariants: a key is pressed only while the dialog's text and choices are those of the start and the user has not
///   typed since. A confirming key is pressed once. In dialogs with a cursor it is Enter, and only on the marked choice.
/// Pure: decides, never acts; the clock is an argument. Threading: one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "host/prompts/dialog.h"
#include "protocol/send.h"

namespace relay::host {

inline constexpr Millis kChoosingTimeout{1'500};  // for the mark to reach the wanted choice
inline constexpr Millis kRedrawTimeout{900};      // for a dialog to be drawn again after a key
inline constexpr Millis kCloseTimeout{3'000};     // for the dialog to close
inline constexpr Millis kClosedTime{500};         // not on the screen for this time after the key: it has closed
inline constexpr Millis kMaxAnswerTime = kChoosingTimeout + kRedrawTimeout + kCloseTimeout + kClosedTime;

class DialogAnswer {
 public:
  enum class Step : std::uint8_t { Wait, Up, Down, Enter, LetterAndEnter, Shortcut, Accepted, Failed };
  struct Decision {
    Step step = Step::Wait;
    std::optional<SteadyTime> recheck = {};
    std::string_view error = {};  // Failed: for the caller
    protocol::NackCode code = protocol::NackCode::Stale;
  };
  struct View {
    SteadyTime now{};
    const Dialog* dialog = nullptr;  // on the screen; null without a known dialog
    bool is_open = true;             // the request
    SteadyTime typed{};              // by the user, last
  };

  /// `gap`: before an Enter that follows another key, which programs otherwise read as a part of a paste.
  DialogAnswer(Dialog dialog, std::size_t wanted, profiles::DialogKeys press, Millis gap, SteadyTime now)
      : dialog_{std::move(dialog)}, wanted_{wanted}, press_{press}, gap_{gap}, since_{now} {}

  /// After a step that presses, the key counts as pressed at `view.now`.
  Decision decide(const View& view);
  [[nodiscard]] const std::string& letter() const { return dialog_.choices[wanted_].key; }
  /// The name of the key that selects the choice by itself.
  [[nodiscard]] const std::string& shortcut_key() const { return dialog_.choices[wanted_].shortcut_key; }

 private:
  Decision choose(const View& view);
  Decision move(std::size_t from, SteadyTime now);
  Decision confirm(Step step, SteadyTime now);

  Dialog dialog_;
  std::size_t wanted_;
  profiles::DialogKeys press_;
  Millis gap_;
  SteadyTime since_;
  SteadyTime moved_{};
  std::optional<std::size_t> moved_from_;  // the mark when a key was pressed
  std::optional<SteadyTime> confirmed_at_;
  std::optional<SteadyTime> closed_since_;  // after the key
};

}  // namespace relay::host
