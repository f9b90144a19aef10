/// What the agent asks a person, as events: each request once, under an id that nobody else uses, until it is gone.
///
///     adapters::Prompt ──on_prompt, on_gone──▶ Asked ──▶ permission.requested, question.requested
///     a dialog on the screen ──look──────────┘     └──▶ permission.resolved, question.resolved
///
/// A prompt that came through a door of the agent's may be on its screen too; that is one request. When the door closes and
/// the agent goes on asking on its screen, the request stays open until the dialog is gone, and is told again so. A dialog for which no door
/// opens within kSettle (kLateDoor, where one may) is a request that is answered at the screen: by a person, or by keys
/// where the agent's profile knows them and the dialog shows what is asked.
///
/// How a person answered at the screen is told by no agent but OpenCode. The agent's record shows it: a call that was
/// refused ends at once without having done anything. When nothing has ended within kVerdict and it works on, it was allowed.
///
/// Invariants: each request that was told is resolved once; at most one is known by the screen alone; ids are
///   `<host>-p1`, or `-s1` for the screen's, and never used again.
/// Pure: the clock is an argument. Threading: one thread.
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

/// Who answered through the host, and what.
struct AnswerRecord {
  std::string by = "human";  // human, policy, or an agent's name
  adapters::PromptAnswer reply = {};
  bool timed_out = false;
};

class PromptTracker {
 public:
  static constexpr Millis kSettle{750};  // a dialog may be drawn before its hook has called
  static constexpr Millis kLateHookTimeout{
      2'500};                               // OpenCode's server was later than kSettle when the machine was busy
  static constexpr Millis kHalfDrawn{250};  // a dialog drawn anew may look like another one meanwhile
  static constexpr Millis kVerdict{3'000};  // a refusal was read 0.23 s after it was written, at most
  static constexpr Millis kUnseen{
      10'000};  // a dialog is not on a screen that is not understood: it has been answered there

  using Told = std::vector<events::Event>;

  explicit PromptTracker(std::string host, profiles::DialogKeys press = profiles::DialogKeys::None)
      : host_{std::move(host)}, press_{press} {}

  /// `prompt` by its short id, `p1`.
  [[nodiscard]] std::string request_of(std::string_view prompt) const;
  /// The other way round; a short id is taken as it is.
  [[nodiscard]] std::string_view prompt_of(std::string_view request) const;
  /// It is asked at the agent's screen alone.
  [[nodiscard]] bool on_screen_alone(std::string_view request) const;
  /// All that are.
  [[nodiscard]] Told on_screen_alone() const;

  /// It can be answered by keys, now that this is on the screen. The error says why not. A dialog that has come to say
  /// something else is told anew first.
  Result<void> check_keys(std::string_view request, const profiles::ScreenFindings& seen, Told& told);
  /// Enter is being pressed for it: when its dialog is gone, that was why.
  void press(std::string_view request, AnswerRecord answered);
  /// Its dialog was seen to take the keys that were pressed for it, whatever the screen shows since.
  Told taken(std::string_view request, WallMs now);
  /// Keys were pressed for it, and it is not known what became of them: no more are.
  Told abandon(std::string_view request);
  [[nodiscard]] bool is_open(std::string_view request) const;

  Told on_prompt(const adapters::Prompt& prompt);
  Told on_closed(const std::string& prompt, const adapters::PromptOutcome& end,
                 const std::optional<AnswerRecord>& answered, Timestamp now);
  /// Something else the agent did: it may show how a person answered.
  Told on_event(const events::Event& event, WallMs now);
  /// What is on the screen now, and how long a dialog there may wait for its door.
  Told update(profiles::State state, const profiles::ScreenFindings& findings, Timestamp now, Millis settle = kSettle);
  /// A dialog is on the screen that is told as a request once it has settled, unless its door opens before.
  [[nodiscard]] bool dialog_settles() const { return dialog_.has_value(); }
  /// When to look again, if nothing changes.
  [[nodiscard]] std::optional<SteadyTime> due() const;
  /// The agent has ended.
  Told end(WallMs now);

  /// All that are open, oldest first.
  [[nodiscard]] Told open() const;
  /// Without those that were answered, and of which only the outcome is not known yet.
  [[nodiscard]] Told unanswered() const;

 private:
  enum class PromptSurface : std::uint8_t {
    Door,      // it can be answered through us
    Leaving,   // not any more; the dialog is about to be drawn
    OnScreen,  // on the agent's screen alone
    Closing,   // a person has answered, and it will show how
  };
  /// A dialog, and since when it is there.
  struct DialogSighting {
    std::string about;
    SteadyTime since{};
  };
  struct Open {
    std::string prompt;  // short; empty: known by the screen alone
    std::string request;
    events::Event told;
    PromptSurface where = PromptSurface::Door;
    std::string dialog = {};  // OnScreen: what it is about
    std::string whole = {};   // and all it says and offers, as it was told
    std::string body = {};
    std::optional<AnswerRecord> pressed = {};      // OnScreen: by our keys
    bool left_alone = false;                       // OnScreen: keys were pressed in vain
    std::optional<DialogSighting> other = {};      // OnScreen: a dialog that is not known to be this one
    std::optional<events::Resolution> shown = {};  // by the record, perhaps before its dialog closed
    SteadyTime until{};                            // Closing
    std::optional<SteadyTime> unseen_since = {};   // OnScreen, without a prompt: the screen is not understood
    std::string subject = {};                      // on what its call works, as the agent's record would say
  };
  struct Call {
    std::string tool, subject;
  };

  using Opens = std::deque<Open>;
  /// By its id, by its prompt's, or by the part behind the host's.
  Opens::iterator find(std::string_view request);
  [[nodiscard]] Opens::const_iterator find(std::string_view request) const;
  Opens::iterator on_screen();
  static bool has_settled(Open& open, const std::optional<Dialog>& dialog, SteadyTime now);
  void allow_keys(Told& out, Open& open, const profiles::ScreenFindings& seen, const Dialog& dialog);
  static void report_change(Told& out, Open& open, const profiles::ScreenFindings& seen, const Dialog& dialog);
  void close(Told& out, Opens::iterator open, Timestamp now);
  static bool is_about(const Open& open, const adapters::Prompt& prompt, const std::string& subject);
  [[nodiscard]] bool concerns(const Open& open, const Call& ended) const;
  static Call call_in(const json::object& metadata);
  [[nodiscard]] bool is_under_way(const Open& open) const;
  void resolve(Told& out, Opens::iterator open, const AnswerRecord& answered, WallMs now);
  void resolve(Told& out, Opens::iterator open, events::Resolution how, std::string_view by, std::string_view reason,
               std::optional<std::string> answer, WallMs now);

  std::string host_;
  Opens open_;
  profiles::DialogKeys press_;
  std::optional<DialogSighting> dialog_;            // one that may be nobody's
  Millis settle_{};                                 // how long it may wait for a door
  std::map<std::string, Call, std::less<>> calls_;  // that are under way
  bool deed_ = false;                               // the call that ends next has done something
  std::uint64_t last_ = 0;                          // of those known by the screen alone
};

}  // namespace relay::host
