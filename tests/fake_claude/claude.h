/// A session of Claude Code with scripted replies: its terminal, hooks, inbox and transcript act in the order of the real
/// program.
///
///   prompt (Enter, or the inbox) ─▶ UserPromptSubmit ─▶ works ─▶ tool? ─▶ reply, Stop ─▶ idle
///                                                                 │ PreToolUse; permission? dialog on screen while the
///                                                                 │ PermissionRequest hook is pending: first answer wins
///                                                                 └ PostToolUse
/// An inbox message during work stays pending until the end of the reply, or interrupts it (`now`); the composer stays
/// unchanged.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "fake_claude/hooks.h"
#include "fake_claude/inbox.h"
#include "fake_claude/session_files.h"
#include "scripted_agent/journal.h"
#include "scripted_agent/keys.h"

namespace relay::fake_claude {

/// The reaction to prompts that contain some arguments.
struct Rule {
  std::string contains = {}, reply = "fine", denied = "I did not do it.";
  std::string tool = {};  // a command it runs before it replies
  bool needs_permission = false;
  std::string question = {};  // instead of a tool, with these choices
  std::vector<std::string> choices = {};
  std::string mode = {};    // the permission mode from then on; empty: as before
  bool unrecorded = false;  // the prompt is not written to the transcript
  bool ends = false;        // exits, with the reply and another prompt as the last transcript lines
  Millis work{50};
};
std::vector<Rule> read_rules(const std::string& path);

class Claude {
 public:
  Claude(Hooks hooks, SessionFiles files, std::vector<Rule> rules, const scripted_agent::Journal& journal);

  void start();
  void on_key(const scripted_agent::Key& key, SteadyTime now);
  void on_inbox_message(const InboxMessage& message, SteadyTime now);
  /// The pending hook has printed something, or exited.
  void on_hook_ready(SteadyTime now);
  void on_time(SteadyTime now);

  [[nodiscard]] std::optional<SteadyTime> wake_at() const;
  [[nodiscard]] int pending_hook() const { return permission_.is_running() ? permission_.output() : -1; }
  [[nodiscard]] bool finished() const { return finished_; }
  std::string take_output() { return std::exchange(output_, {}); }

 private:
  enum class State { Idle, Working, Blocked };
  struct Prompt {
    std::string text;
    bool by_peer = false;
  };

  void start_turn(const Prompt& prompt, SteadyTime now);
  void finish_work();
  void open_dialog(std::string_view title);
  void decide(bool allowed, std::string_view by, std::string_view message = {});
  void reply(const std::string& text);
  void take_context(std::string_view event, const json::object& answer);
  [[nodiscard]] json::object payload(std::string_view event, json::object more = {}) const;
  [[nodiscard]] json::object tool_payload(std::string_view event) const;
  void draw();

  Hooks hooks_;
  SessionFiles files_;
  std::vector<Rule> rules_;
  const scripted_agent::Journal& journal_;
  State state_ = State::Idle;
  Rule rule_;  // of the turn
  std::string mode_ = "default";
  std::string tool_;  // the id of its call
  HookCall permission_;
  std::deque<Prompt> pending_;
  std::vector<std::string> conversation_;  // the text above the composer
  std::string composer_, output_;
  SteadyTime done_at_{};
  bool finished_ = false;
};

}  // namespace relay::fake_claude
