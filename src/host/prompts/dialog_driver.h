/// Answers by keys what an agent asks on its screen: one request at a time, carried out by whoever holds the keyboard.
///
/// Invariants: begun only while nobody types there; whoever answered is told once how it went, also when the agent ends.
/// Ownership: borrows the native side, which outlives it. Threading: loop thread only; the clock is an argument.
#pragma once

#include <functional>
#include <optional>

#include "host/adapter_bridge.h"
#include "host/control/host_protocol.h"
#include "host/prompts/dialog_answer.h"
#include "terminal/keys.h"

namespace relay::host {

class DialogDriver {
 public:
  using Done = std::move_only_function<void(Result<void>)>;
  using PressKey = std::move_only_function<void(const terminal::Key&)>;
  struct View {
    SteadyTime now{};
    const profiles::ScreenFindings* asking = nullptr;  // on the screen; none: it is not asking
    SteadyTime since{};                                // it has been from then on
    SteadyTime typed{};                                // by a person, last
    bool steady = true;                                // what is seen is what there is, and no key is on its way
  };

  DialogDriver(AdapterBridge& native, const profiles::Profile& profile, PressKey press)
      : native_{native}, how_{profile.dialogs.keys}, gap_{profile.typing.submit_gap}, press_{std::move(press)} {}

  void begin(const AnswerPrompt& wish, const View& view, Done done);
  /// To be called after each look at the screen; when to call again although nothing has changed.
  std::optional<SteadyTime> look(const View& view);
  void on_agent_gone();
  [[nodiscard]] bool under_way() const { return under_way_.has_value(); }

 private:
  struct ActiveAnswer {
    AnswerPrompt wish;
    DialogAnswer answering;
    Done done;
    bool touched = false;                    // a key was pressed
    std::optional<SteadyTime> recheck = {};  // as was decided last
  };

  void press(DialogAnswer::Step step);
  void end(Result<void> outcome);

  AdapterBridge& native_;
  profiles::DialogKeys how_;
  Millis gap_;
  PressKey press_;
  std::optional<ActiveAnswer> under_way_;
};

}  // namespace relay::host
