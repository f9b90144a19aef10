/// The agent's prompts as events: each is reported once, under a unique id, and resolved once. Pure.
///
///     adapters::Prompt ──on_prompt, on_closed──▶ PromptTracker ──▶ permission.requested, question.requested
///     a dialog on the screen ──update───────────┘             └──▶ permission.resolved, question.resolved
///
/// Requests
/// - A native prompt and its dialog on the screen are one request.
/// - When the native prompt closes while its dialog stays on the screen, the request stays open until the dialog closes,
///   and is reported again.
/// - A dialog without a native prompt within kNativePromptDelay (kLateHookTimeout, where one may follow) is a request
///   that is answered on the screen: by the user, or by keys where the profile names them and the dialog shows its
///   subject.
/// - Only OpenCode reports how the user answered on the screen. For the others the transcript shows it: a denied call
///   ends at once without an effect. When no call has ended within kOutcomeTimeout and the agent works, it was approved.
///
/// Invariants: each reported request is resolved once; at most one is only on the screen; ids are `<host>-p1`, or `-s1`
///   for those of the screen, and never reused.
/// Threading: one thread; the clock is an argument.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/prompt.h"
#include "base/json.h"
#include "events/event.h"
#include "host/prompts/dialog.h"
#include "profiles/screen_findings.h"
#include "profiles/state_classifier.h"

namespace relay::host {

/// An answer via the host.
struct AnswerRecord {
  std::string by = "human";  // human, policy, or an agent's name
  adapters::PromptAnswer reply = {};
  bool timed_out = false;
};

class PromptTracker {
 public:
  static constexpr Millis kNativePromptDelay{750};  // a dialog may be drawn before its hook calls
  static constexpr Millis kLateHookTimeout{2'500};  // OpenCode's server exceeds kNativePromptDelay on a busy machine
  static constexpr Millis kRedrawTime{250};         // a dialog may look like another one during a redraw
  static constexpr Millis kOutcomeTimeout{3'000};   // measured: a denial is read within 0.23 s
  static constexpr Millis kUnknownScreenTimeout{10'000};  // an unknown screen for this time: the dialog was answered

  using Events = std::vector<events::Event>;

  explicit PromptTracker(std::string host, profiles::DialogKeys press = profiles::DialogKeys::None)
      : host_{std::move(host)}, press_{press} {}

  /// `prompt` by its short id, `p1`.
  [[nodiscard]] std::string request_of(std::string_view prompt) const;
  /// The short id of a request; a short id stays as it is.
  [[nodiscard]] std::string_view prompt_of(std::string_view request) const;
  /// The request is only on the screen.
  [[nodiscard]] bool on_screen_alone(std::string_view request) const;
  /// The events of those requests.
  [[nodiscard]] Events on_screen_alone() const;

  /// Succeeds when keys may answer the request in the dialog of these findings. A dialog whose text has changed is first
  /// reported again, in `out`.
  Result<void> check_keys(std::string_view request, const profiles::ScreenFindings& findings, Events& out);
  /// Keys that answer the request are being pressed; they resolve it when its dialog closes.
  void press(std::string_view request, AnswerRecord answered);
  /// The dialog has closed after the keys.
  Events on_answer_accepted(std::string_view request, WallMs now);
  /// Keys were pressed with an unknown effect: no more may be pressed.
  Events abandon(std::string_view request);
  [[nodiscard]] bool is_open(std::string_view request) const;

  Events on_prompt(const adapters::Prompt& prompt);
  Events on_closed(const std::string& prompt, const adapters::PromptOutcome& end,
                   const std::optional<AnswerRecord>& answered, Timestamp now);
  /// Another event of the agent. It may show how the user answered.
  Events on_event(const events::Event& event, WallMs now);
  /// An update of the screen. `native_prompt_delay`: after which a dialog without a native prompt is a request.
  Events update(profiles::State state, const profiles::ScreenFindings& findings, Timestamp now,
                Millis native_prompt_delay = kNativePromptDelay);
  /// A dialog is on the screen and not reported yet: its native prompt may still open.
  [[nodiscard]] bool has_unreported_dialog() const { return dialog_.has_value(); }
  /// When to call `update` again without a change.
  [[nodiscard]] std::optional<SteadyTime> due() const;
  Events on_agent_exit(WallMs now);

  /// All open requests, oldest first.
  [[nodiscard]] Events open() const;
  /// Without those that were answered and have an unknown outcome.
  [[nodiscard]] Events unanswered() const;

 private:
  enum class PromptSurface : std::uint8_t {
    Native,   // can be answered via the host
    Leaving,  // the native prompt has closed; its dialog is about to be drawn
    Screen,   // only on the agent's screen
    Closing,  // the user has answered; the transcript will show how
  };
  /// A dialog and since when it is on the screen.
  struct DialogSighting {
    std::string subject;
    SteadyTime since{};
  };
  struct Open {
    std::string prompt;  // short id; empty: only on the screen
    std::string request;
    events::Event event;
    PromptSurface surface = PromptSurface::Native;
    std::string dialog = {};     // Screen: Dialog::subject
    std::string full_text = {};  // Screen: Dialog::full_text, as reported
    std::string body = {};
    std::optional<AnswerRecord> pressed = {};      // Screen: the answer by keys
    bool abandoned = false;                        // Screen: keys were pressed with an unknown effect
    std::optional<DialogSighting> other = {};      // Screen: another dialog, perhaps a redraw of this one
    std::optional<events::Resolution> shown = {};  // by the transcript, perhaps before the dialog closed
    SteadyTime until{};                            // Closing
    std::optional<SteadyTime> unseen_since = {};   // only on the screen: since when the screen is unknown
    std::string subject = {};                      // of its call, as the transcript names it
  };
  struct Call {
    std::string tool, subject;
  };

  using Opens = std::deque<Open>;
  /// By request id, prompt id or short id.
  Opens::iterator find(std::string_view request);
  [[nodiscard]] Opens::const_iterator find(std::string_view request) const;
  Opens::iterator on_screen();
  static bool has_other_dialog(Open& open, const std::optional<Dialog>& dialog, SteadyTime now);
  void allow_keys(Events& out, Open& open, const profiles::ScreenFindings& findings, const Dialog& dialog);
  static void report_change(Events& out, Open& open, const profiles::ScreenFindings& findings, const Dialog& dialog);
  void close(Events& out, Opens::iterator open, Timestamp now);
  static bool is_about(const Open& open, const adapters::Prompt& prompt, const std::string& subject);
  [[nodiscard]] bool concerns(const Open& open, const Call& ended) const;
  static Call call_in(const json::object& metadata);
  [[nodiscard]] bool is_running(const Open& open) const;
  void resolve(Events& out, Opens::iterator open, const AnswerRecord& answered, WallMs now);
  void resolve(Events& out, Opens::iterator open, events::Resolution how, std::string_view by, std::string_view reason,
               std::optional<std::string> answer, WallMs now);

  std::string host_;
  Opens open_;
  profiles::DialogKeys press_;
  std::optional<DialogSighting> dialog_;            // without a request so far
  Millis native_prompt_delay_{};                    // until `dialog_` becomes a request
  std::map<std::string, Call, std::less<>> calls_;  // running calls
  bool has_effect_ = false;                         // of the call that ends next
  std::uint64_t last_ = 0;                          // number of the newest request of the screen
};

}  // namespace relay::host
