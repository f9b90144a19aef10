/// Executes answers by keys (dialog_answer.h), one prompt at a time.
///
/// Invariants: an answer starts only while the user does not type; `done` is called once, also when the agent ends.
/// Ownership: borrows the adapter bridge, which outlives it. Threading: loop thread only; the clock is an argument.
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
    const profiles::ScreenFindings* dialog = nullptr;  // on the screen; null unless the agent is blocked
    SteadyTime since{};                                // since when it is there
    SteadyTime typed{};                                // by the user, last
    bool steady = true;                                // the screen is complete and no key is pending
  };

  DialogDriver(AdapterBridge& adapter, const profiles::Profile& profile, PressKey press)
      : adapter_{adapter}, keys_{profile.dialogs.keys}, gap_{profile.typing.submit_gap}, press_key_{std::move(press)} {}

  void start(const AnswerPrompt& request, const View& view, Done done);
  /// To be called after each update of the screen. Returns when to call again without a change.
  std::optional<SteadyTime> update(const View& view);
  void on_agent_exit();
  [[nodiscard]] bool is_active() const { return active_.has_value(); }

 private:
  struct ActiveAnswer {
    AnswerPrompt request;
    DialogAnswer answer;
    Done done;
    bool touched = false;                    // a key was pressed
    std::optional<SteadyTime> recheck = {};  // of the last decision
  };

  void press(DialogAnswer::Step step);
  void end(Result<void> outcome);

  AdapterBridge& adapter_;
  profiles::DialogKeys keys_;
  Millis gap_;
  PressKey press_key_;
  std::optional<ActiveAnswer> active_;
};

}  // namespace relay::host
