/// The agent's prompts as events: each is reported once, under a unique id, until it is closed. Pure.
///
///     adapters::Prompt ──on_prompt, on_closed──▶ PromptTracker ──▶ permission.requested, question.requested
///     a dialog on the screen ──update───────────┘             └──▶ permission.resolved, question.resolved
///
/// A prompt of a native interface may be on the screen too; both are one request. When the native prompt closes and the
/// agent goes on asking on its screen, the request stays open until the dialog is gone, and is reported again as such.
/// A dialog without a native prompt within kSettle (kLateHookTimeout, where one may follow) is a request that is
/// answered on the screen: by the user, or by keys where the profile names them and the dialog shows what it asks.
///
/// No agent but OpenCode reports how the user answered on the screen. The transcript shows it: a denied call ends at
/// once without an effect. When nothing has ended within kOutcomeTimeout and the agent works, it was approved.
///
/// Invariants: each reported request is resolved once; at most one is known by the screen alone; ids are `<host>-p1`,
///   or `-s1` for the screen's, and never used again.
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

/// An answer through the host.
struct AnswerRecord {
  std::string by = "human";  // human, policy, or an agent's name
  adapters::PromptAnswer reply = {};
  bool timed_out = false;
};

class PromptTracker {
 public:
  static constexpr Millis kSettle{750};  // a dialog may be drawn before its hook calls
  static constexpr Millis kLateHookTimeout{
      2'500};                                      // OpenCode's server was later than kSettle when the machine was busy
  static constexpr Millis kRedrawTime{250};        // a dialog that is redrawn may look like another one meanwhile
  static constexpr Millis kOutcomeTimeout{3'000};  // a denial was read at most 0.23 s after it was written
  static constexpr Millis kUnseen{
      10'000};  // a screen that is not understood for so long has no dialog: it was answered there

  using Events = std::vector<events::Event>;

  explicit PromptTracker(std::string host, profiles::DialogKeys press = profiles::DialogKeys::None)
      : host_{std::move(host)}, press_{press} {}

  /// `prompt` by its short id, `p1`.
  [[nodiscard]] std::string request_of(std::string_view prompt) const;
  /// The short id of a request; a short id stays as it is.
  [[nodiscard]] std::string_view prompt_of(std::string_view request) const;
  /// The request is on the screen alone.
  [[nodiscard]] bool on_screen_alone(std::string_view request) const;
  /// The events of all that are.
  [[nodiscard]] Events on_screen_alone() const;

  /// Succeeds when keys may answer it now that this is on the screen. A dialog whose text has changed is reported again
  /// first, in `event`.
  Result<void> check_keys(std::string_view request, const profiles::ScreenFindings& seen, Events& event);
  /// Enter is being pressed for it: that will be why its dialog closes.
  void press(std::string_view request, AnswerRecord answered);
  /// Its dialog has closed after the keys, whatever the screen shows since.
  Events taken(std::string_view request, WallMs now);
  /// Keys were pressed for it, and their effect is not known: no more are pressed.
  Events abandon(std::string_view request);
  [[nodiscard]] bool is_open(std::string_view request) const;

  Events on_prompt(const adapters::Prompt& prompt);
  Events on_closed(const std::string& prompt, const adapters::PromptOutcome& end,
                   const std::optional<AnswerRecord>& answered, Timestamp now);
  /// Another event of the agent, which may show how the user answered.
  Events on_event(const events::Event& event, WallMs now);
  /// What the screen shows now, and how long a dialog there waits for its native prompt.
  Events update(profiles::State state, const profiles::ScreenFindings& findings, Timestamp now,
                Millis settle = kSettle);
  /// A dialog is on the screen that is reported once it has settled, unless its native prompt opens before.
  [[nodiscard]] bool dialog_settles() const { return dialog_.has_value(); }
  /// When to call `update` again without any change.
  [[nodiscard]] std::optional<SteadyTime> due() const;
  /// The agent has ended.
  Events end(WallMs now);

  /// All that are open, oldest first.
  [[nodiscard]] Events open() const;
  /// Without those that were answered and whose outcome is not known yet.
  [[nodiscard]] Events unanswered() const;

 private:
  enum class PromptSurface : std::uint8_t {
    Native,   // can be answered through the host
    Leaving,  // not any more; its dialog is about to be drawn
    Screen,   // on the agent's screen alone
    Closing,  // the user has answered, and the transcript will show how
  };
  /// A dialog and since when it is on the screen.
  struct DialogSighting {
    std::string about;
    SteadyTime since{};
  };
  struct Open {
    std::string prompt;  // short; empty: known by the screen alone
    std::string request;
    events::Event event;
    PromptSurface surface = PromptSurface::Native;
    std::string dialog = {};  // Screen: what it is about
    std::string whole = {};   // all it says and offers, as it was reported
    std::string body = {};
    std::optional<AnswerRecord> pressed = {};      // Screen: by our keys
    bool abandoned = false;                        // Screen: keys were pressed without a known effect
    std::optional<DialogSighting> other = {};      // Screen: another dialog, perhaps this one redrawn
    std::optional<events::Resolution> shown = {};  // by the transcript, perhaps before its dialog closed
    SteadyTime until{};                            // Closing
    std::optional<SteadyTime> unseen_since = {};   // Screen, without a prompt: the screen is not understood
    std::string subject = {};                      // what its call works on, as the transcript names it
  };
  struct Call {
    std::string tool, subject;
  };

  using Opens = std::deque<Open>;
  /// By its id, the id of its prompt, or its short id.
  Opens::iterator find(std::string_view request);
  [[nodiscard]] Opens::const_iterator find(std::string_view request) const;
  Opens::iterator on_screen();
  static bool has_settled(Open& open, const std::optional<Dialog>& dialog, SteadyTime now);
  void allow_keys(Events& out, Open& open, const profiles::ScreenFindings& seen, const Dialog& dialog);
  static void report_change(Events& out, Open& open, const profiles::ScreenFindings& seen, const Dialog& dialog);
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
  std::optional<DialogSighting> dialog_;            // one without a request yet
  Millis settle_{};                                 // how long it waits for a native prompt
  std::map<std::string, Call, std::less<>> calls_;  // that are running
  bool has_effect_ = false;                         // the call that ends next had an effect
  std::uint64_t last_ = 0;                          // of those known by the screen alone
};

}  // namespace relay::host
