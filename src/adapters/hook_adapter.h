/// Shared by agents with hooks and a transcript: Claude Code, Codex and Gemini CLI. A subclass adds its delivery
/// interface, and its ways to find a transcript or thread that hooks do not report.
///
///     hook ─▶ transcript path ─▶ Tail ─▶ Reader ─▶ output, model input, usage; and through Activity, events
///          ─▶ prompt or tool call: delivers the pending messages
///          ─▶ permission: stays open for an answer (HookPrompts)
///
/// Invariants: a subagent's hooks deliver no messages and name no transcript; entries from before the agent's start, or
///   copied from an older transcript, are not reported; nor is output that was read from the screen while the
///   transcript was lost.
/// Threading: loop thread only.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "adapters/adapter.h"
#include "adapters/display_order.h"
#include "adapters/hook_prompts.h"
#include "adapters/transcript_follower.h"

namespace relay::adapters {

class HookAdapter : public Adapter, private TranscriptListener {
 public:
  void prepare(pty::Command& command, const LaunchContext& context) override;
  void start(Listener& listener, pid_t agent) override;
  [[nodiscard]] NativeCapabilities capabilities() const override;
  void deliver(const NativeDelivery& delivery, OnAccepted done) override;
  void answer(const std::string& prompt, const PromptAnswer& answer, OnAnswered done) override;
  void on_hook(const hooks::HookEvent& event, std::uint64_t call, HookReply reply) override;
  void on_hook_closed(std::uint64_t call) override;
  void on_state(profiles::State state) override;
  void on_agent_exit() override;

 protected:
  using MakeReader = TranscriptFollower::MakeReader;
  HookAdapter(net::AsioLoop& loop, hooks::AgentCli agent, MakeReader make_reader)
      : loop_{loop}, agent_{agent}, make_reader_{make_reader} {}

  [[nodiscard]] net::AsioLoop& loop() const { return loop_; }
  [[nodiscard]] Listener& listener() const { return *listener_; }
  [[nodiscard]] const LaunchContext& context() const { return context_; }
  /// The agent's own id of its session; empty until a hook has reported it.
  [[nodiscard]] const std::string& session() const { return session_; }
  /// Follows that transcript; no effect if it is followed already. With `since` entries from that time on are reported
  /// too.
  void follow(const std::string& transcript, const std::string& session, std::optional<WallMs> since = std::nullopt);
  /// The conversation continues in that transcript: its entries from that time on are reported, each once.
  void move(const std::string& transcript, const std::string& session, WallMs not_before);
  /// The agent's output is no longer in the transcript, with the reason. A later entry ends the failure.
  void lose_transcript(std::string reason);
  /// The transcript is followed, and not lost.
  [[nodiscard]] bool follows() const { return transcript_ && transcript_->follows() && !lost_; }
  [[nodiscard]] bool has_lost_transcript() const { return lost_; }
  [[nodiscard]] const std::string& transcript_path() const { return transcript_->path(); }
  [[nodiscard]] bool has_called_hooks() const { return hook_called_; }
  [[nodiscard]] bool has_ended() const { return ended_; }
  void release_prompt(const std::string& prompt) { prompts_.release(prompt); }
  void fail_interface(std::string_view via, std::string reason) {
    listener_->on_interface_failed(via, std::move(reason));
  }

  /// An adapter's own handling of an entry, before the common one.
  virtual void on_own_entry(const transcripts::Entry& /*entry*/) {}
  /// The transcript was removed, which is already reported. The agent may continue in another.
  virtual void on_transcript_lost() {}
  /// Text for the model when its session starts; none by default.
  [[nodiscard]] virtual std::string session_context() const { return {}; }
  /// True if its SessionStart hook has the reason "startup" also for another session of the same process.
  [[nodiscard]] virtual bool reports_new_session_as_startup() const { return false; }
  /// After this many turns without a hook call the hooks count as failed.
  [[nodiscard]] virtual int turns_before_hooks() const { return 1; }
  /// The time a permission hook stays open; none: as long as the agent allows.
  [[nodiscard]] virtual std::optional<Millis> prompt_timeout() const { return std::nullopt; }

 private:
  void on_entry(const transcripts::Entry& entry) override;
  void on_activity(const events::Event& event, WallMs at) override { listener_->on_event(event, at); }
  void on_transcript_error(const std::string& error) override;
  void on_transcript_removed() override;
  void on_transcript_restored() override { recover_transcript(); }
  void recover_transcript();
  [[nodiscard]] bool was_read_from_screen() const;
  [[nodiscard]] bool is_foreign(const hooks::HookEvent& event) const;
  void take_display(const hooks::HookEvent& event);

  net::AsioLoop& loop_;
  hooks::AgentCli agent_;
  MakeReader make_reader_;
  LaunchContext context_;
  Listener* listener_ = nullptr;
  HookPrompts prompts_{std::nullopt};
  std::string session_;
  std::unique_ptr<TranscriptFollower> transcript_;  // after `start`
  DisplayOrder display_;
  std::set<std::string> unknown_;  // entry types that were logged
  std::string unwired_reason_;
  bool wired_ = false;
  bool lost_ = false;             // the transcript was removed, or the agent writes to another
  WallMs screen_read_until_ = 0;  // while the transcript was lost: turns that ended by then were read from the screen
  bool ended_ = false;
  bool hook_called_ = false;
  bool hooks_failed_ = false;  // turns ended without a hook call
  profiles::State last_state_ = profiles::State::Unknown;
  bool in_turn_ = false;  // working since it was idle
  int turns_ = 0;         // without a hook call
};

}  // namespace relay::adapters
