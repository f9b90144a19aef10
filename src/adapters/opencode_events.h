/// Turns the events of OpenCode's server into reports to a Listener. No I/O.
///
///     /event ──on_event──▶ OpenCodeEvents ──output, model input, events, prompts, usage──▶ Listener
///     GET after a gap ──on_messages, on_statuses, on_prompts──┘
///
/// The same event, or the same message requested after a gap, may arrive any number of times; it is reported once.
///
/// Invariants
/// - A text is reported once it is complete: another part of the reply follows, or the reply is complete. A text cut short
///   by an interruption or failure is never reported.
/// - A message counts as model input when a reply to it (or to a later one) has its first part.
/// - The server does not report the session on screen: it is the newest one that was written to or created, until the
///   screen shows none (`leave_session`); the window's title may show that it is another one. Sessions with a parent are
///   subagents: their text is not the agent's output, their prompts are reported.
/// - All tables are bounded; the oldest entries are dropped first.
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

/// Agent and model of a session's last user message. A message without them would run with the default agent, which may
/// do more than the user's choice ("plan").
struct OpenCodeSelection {
  std::string agent = {}, provider = {}, model = {}, variant = {};
};

class OpenCodeEvents {
 public:
  /// Replies from before `since` are not reported.
  OpenCodeEvents(Listener& listener, WallMs since) : listener_{listener}, since_{since} {}

  void on_event(const json::object& event);

  /// After a gap: the newest messages of a session (GET /session/ID/message), every session that is not idle
  /// (GET /session/status), open prompts (GET /permission, /question), the newest sessions (GET /session).
  /// Replies that were complete at `fallback_since` or later were read from the screen.
  void on_messages(std::string_view session, const json::array& messages, WallMs fallback_since);
  void on_statuses(const json::object& statuses);
  void on_prompts(const json::array& permissions, const json::array& questions);
  /// `continues`: the newest session is on screen, whatever its age.
  void on_sessions(const json::array& sessions, bool continues);

  [[nodiscard]] const std::string& session() const { return current_; }
  void set_session(std::string_view id) { current_ = id; }
  /// The user has left it for a new one, which does not exist before its first prompt.
  void leave_session();
  /// The window has the title of another session than `session()`. False if that cannot be determined.
  [[nodiscard]] bool shows_other_session(std::string_view window_title) const;
  void forget_session(std::string_view id);
  [[nodiscard]] bool is_busy() const;
  [[nodiscard]] ReportedState reported_state() const;
  [[nodiscard]] OpenCodeSelection selection() const;

  struct OpenPrompt {
    Prompt prompt;
    std::string request;  // the server's id
    std::string session;
    bool answered = false;  // by the relay; the server has not confirmed it yet
  };
  [[nodiscard]] const OpenPrompt* find_prompt(const std::string& prompt) const;
  void set_answered(const std::string& prompt, bool answered);
  /// The server is given up: open prompts can only be answered on the screen.
  void fall_back_to_screen();
  /// Another client answered it, or it was withdrawn.
  void close_prompt(const std::string& prompt);
  /// OpenCode has ended: open items will not complete.
  void on_agent_exit(WallMs at);

 private:
  struct Session {
    bool child = false;
    std::string title = {};
    std::string status = {};  // empty: idle
    std::string detail = {};
    OpenCodeSelection selection = {};
  };
  struct Part {
    std::string type = {};
    std::string text = {};  // complete and not reported; else empty
    WallMs at = 0;
  };
  /// A message that is not complete.
  struct Message {
    std::string session = {}, role = {}, parent = {};
    std::map<std::string, Part, std::less<>> parts = {};  // ids grow with time
  };

  Session& find_session(std::string_view id);
  [[nodiscard]] bool is_child(std::string_view id) const;
  Message& find_message(std::string_view id, std::string_view session);

  void on_session(const json::object& info, bool created);
  void on_message(const json::object& info);
  void update_message(const json::object& info);
  void finish(const json::object& info);
  void on_part(const json::object& part);
  void on_delta(const json::object& delta);
  void on_status(std::string_view session, const json::object& status);
  void on_error(const json::object& properties);
  void on_permission(const json::object& request);
  void on_question(const json::object& request);
  void open_prompt(OpenPrompt open);
  void close(std::string_view request, std::optional<PromptAnswer::Decision> decision = {});
  void on_tool(const json::object& part);
  void end_turn(transcripts::TurnOutcome ending);
  void take(const transcripts::Entry& entry, WallMs at);
  void emit(const activity::TimedEvents& all);
  [[nodiscard]] WallMs now() const { return std::max(latest_, since_); }

  void report_text(Message& message, bool complete);
  void report_model_input(std::string_view session, std::string_view up_to);
  void notify_if_changed(const ReportedState& before);

  Listener& listener_;
  WallMs since_;
  std::string current_;
  bool left_ = false;  // a session was left: then the newest session does not count as the one on screen
  std::map<std::string, Session, std::less<>> sessions_;
  std::map<std::string, Message, std::less<>> messages_;
  transcripts::DedupCache<bool> reported_texts_, reported_inputs_, completed_messages_;
  activity::Activity activity_{via::kServer};
  transcripts::DedupCache<bool> started_tools_, finished_tools_;  // reported tool calls
  WallMs latest_ = 0;                                             // the newest time in the server's events
  std::vector<OpenPrompt> prompts_;
  std::uint64_t last_prompt_ = 0;
};

}  // namespace relay::adapters
