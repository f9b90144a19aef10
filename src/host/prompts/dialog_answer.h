/// Answers one dialog on an agent's screen by keys: what to press, when it was taken, when to give up.
///
///     Choosing ──another choice marked──▶ one step up or down, then see it move
///        │ ──the wanted choice marked──▶ (gap) Enter ─▶ Entered ──dialog gone──▶ Taken
///        └ another dialog, none, the user types: Failed, nothing pressed
///
/// Invariants: a key is pressed only while the text and the choices of the dialog are those of the start, and the user
///   has not typed since; Enter at most once.
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

inline constexpr Millis kChoosing{1'500};      // for the mark to reach the wanted choice
inline constexpr Millis kRedraw{900};          // for a dialog to be drawn again after a key
inline constexpr Millis kTakenTimeout{3'000};  // for the dialog to close
inline constexpr Millis kGone{500};            // not on the screen for so long after the key: it is gone
inline constexpr Millis kMaxAnswerTime = kChoosing + kRedraw + kTakenTimeout + kGone;

class DialogAnswer {
 public:
  enum class Step : std::uint8_t { Wait, Up, Down, Enter, LetterAndEnter, OwnKey, Taken, Failed };
  struct Decision {
    Step step = Step::Wait;
    std::optional<SteadyTime> recheck = {};
    std::string_view why = {};  // Failed: a sentence for the caller that answered
    protocol::NackCode refusal = protocol::NackCode::Stale;
  };
  struct View {
    SteadyTime now{};
    const Dialog* dialog = nullptr;  // on the screen; none: no known dialog
    bool asked = true;               // the request is still open
    SteadyTime typed{};              // by the user, last
  };

  /// `gap`: programs take an Enter that follows another key sooner for a part of a paste.
  DialogAnswer(Dialog dialog, std::size_t wanted, profiles::DialogKeys press, Millis gap, SteadyTime now)
      : dialog_{std::move(dialog)}, wanted_{wanted}, press_{press}, gap_{gap}, since_{now} {}

  /// After a step that presses, the key counts as pressed at `seen.now`.
  Decision decide(const View& seen);
  [[nodiscard]] const std::string& letter() const { return dialog_.choices[wanted_].key; }
  /// The name of the key that selects the choice by itself.
  [[nodiscard]] const std::string& own_key() const { return dialog_.choices[wanted_].takes; }

 private:
  Decision choose(const View& seen);
  Decision move(std::size_t from, SteadyTime now);
  Decision press_enter(Step step, SteadyTime now);

  Dialog dialog_;
  std::size_t wanted_;
  profiles::DialogKeys press_;
  Millis gap_;
  SteadyTime since_;
  SteadyTime moved_{};
  std::optional<std::size_t> moved_from_;  // where the mark was when a key was pressed
  std::optional<SteadyTime> entered_;
  std::optional<SteadyTime> gone_since_;  // its dialog, after the key
};

}  // namespace relay::host
