/// What OpenCode's server tells, event by event, made into what a host wants to know. No I/O.
///
///     /event ──on_event──▶ OpenCodeTalk ──heard, given, events, prompts, usage──▶ Listener
///     GET after a gap ──on_messages, on_statuses, on_prompts──┘
///
/// The same event, or the same record asked for after a gap, may come any number of times: what was told is told once.
///
/// Invariants
/// - A text is heard when the model has gone past it: another part of the answer follows, or the answer is complete. What
///   an interruption or a failure cut short is never heard.
/// - A message was given to the model when an answer that descends from it (or from a later one) has begun to come.
/// - The session on screen is not told by the server: it is the newest one somebody wrote to or made, until the screen shows
///   none (`leave_session`); the window's title may show that it is another one. Sessions with a parent are subagents: their
///   words are not the agent's, their prompts are.
/// - Everything remembered is bounded; the oldest is forgotten first.
/// Ownership: borrows the listener, which outlives it. Threading: loop thread only.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "activity/activity.h"
#include "adapters/adapter.h"
#include "base/json.h"
#include "transcripts/dedup_cache.h"

namespace relay::adapters {

/// With what a session was asked last. A message that names nothing would run with the default agent instead, which may
/// do what the person's choice ("plan") may not.
struct OpenCodeSelection {
  std::string agent = {}, provider = {}, model = {}, variant = {};
};

class OpenCodeEvents {
 public:
  /// Answers that began before `since` are none of ours.
  OpenCodeEvents(Listener& listener, WallMs since) : listener_{listener}, since_{since} {}

  void on_event(const json::object& event);

  /// After a gap: the newest messages of a session (GET /session/ID/message), every session that is not idle
  /// (GET /session/status), all that is asked (GET /permission, /question), the newest sessions (GET /session).
  /// Answers that were complete at `elsewhere_since` or later have been heard another way.
  void on_messages(std::string_view session, const json::array& messages, WallMs elsewhere_since);
  void on_statuses(const json::object& statuses);
  void on_prompts(const json::array& permissions, const json::array& questions);
  void on_sessions(const json::array& sessions, bool newest_is_ours);

  [[nodiscard]] const std::string& session() const { return current_; }
  void set_session(std::string_view id) { current_ = id; }
  /// The person has begun another one that does not exist before its first prompt.
  void leave_session();
  /// The window has the title of another session than `session()`. False when that cannot be told.
  [[nodiscard]] bool is_elsewhere(std::string_view window_title) const;
  void forget_session(std::string_view id);
  [[nodiscard]] bool busy() const;
  [[nodiscard]] ReportedState known() const;
  [[nodiscard]] OpenCodeSelection choice() const;

  struct OpenPrompt {
    Prompt prompt;
    std::string request;  // the server's name for it
    std::string session;
    bool answered = false;  // by us; the server has not said yet that it took the answer
  };
  [[nodiscard]] const OpenPrompt* asked(const std::string& prompt) const;
  void set_answered(const std::string& prompt, bool answered);
  /// The server is away for good: whatever it asked can only be answered where it is shown.
  void fall_back_to_screen();
  /// Somebody else answered it, or it was withdrawn.
  void gone(const std::string& prompt);
  /// OpenCode has ended: what it had begun will not be completed.
  void on_ended(WallMs at);

 private:
  struct Session {
    bool child = false;
    std::string title = {};
    std::string status = {};  // empty: idle
    std::string says = {};
    OpenCodeSelection choice = {};
  };
  struct Part {
    std::string type = {};
    std::string text = {};  // of the model's, complete; else empty
    WallMs at = 0;
  };
  /// A message that is being told; forgotten once it is complete.
  struct Message {
    std::string session = {}, role = {}, parent = {};
    std::map<std::string, Part, std::less<>> parts = {};  // ids grow with time
  };

  Session& find_session(std::string_view id);
  [[nodiscard]] bool is_child(std::string_view id) const;
  Message& find_message(std::string_view id, std::string_view session);

  void on_session(const json::object& info, bool created);
  void on_message(const json::object& info);
  void learn(const json::object& info);
  void finish(const json::object& info);
  void on_part(const json::object& part);
  void on_delta(const json::object& delta);
  void on_status(std::string_view session, const json::object& status);
  void on_error(const json::object& properties);
  void on_permission(const json::object& request);
  void on_question(const json::object& request);
  void ask(OpenPrompt asked);
  void close(std::string_view request, std::optional<PromptAnswer::Decision> verdict = {});
  void do_tool(const json::object& part);
  void end_turn(transcripts::TurnOutcome ending);
  void take(const transcripts::Entry& entry, WallMs at);
  void tell(const activity::TimedEvents& all);
  [[nodiscard]] WallMs now() const { return std::max(latest_, since_); }

  void hear(Message& message, bool complete);
  void given(std::string_view session, std::string_view up_to);
  void notify_if_changed(const ReportedState& before);

  Listener& listener_;
  WallMs since_;
  std::string current_;
  bool left_ = false;  // one was left once: without a session on screen the newest is not taken for it
  std::map<std::string, Session, std::less<>> sessions_;
  std::map<std::string, Message, std::less<>> messages_;
  transcripts::DedupCache<bool> heard_, given_, complete_;
  activity::Activity activity_{way::kServer};
  transcripts::DedupCache<bool> begun_, done_;  // calls of tools that were told
  WallMs latest_ = 0;                           // the server's own word for now
  std::vector<OpenPrompt> asked_;
  std::uint64_t last_prompt_ = 0;
};

}  // namespace relay::adapters
