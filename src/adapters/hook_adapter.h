/// Shared by agents with hooks and a transcript: Claude Code, Codex and Gemini CLI differ only in how texts are
/// delivered while they are idle.
///
///     hook ─▶ which record ─▶ Tail ─▶ Reader ─▶ heard, given, usage; and through Activity, events
///          ─▶ prompt or tool call: takes the pending messages
///          ─▶ permission: waits for our answer (HookPrompts)
///
/// Invariants: a subagent's hooks take no messages and name no transcript; entries from before our start, or copied
///   from an older transcript, are not reported; nor is output that was read from the screen while the transcript was
///   lost.
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
  void prepare(pty::Command& command, const LaunchContext& where) override;
  void start(Listener& listener, pid_t agent) override;
  [[nodiscard]] NativeCapabilities capabilities() const override;
  void deliver(const NativeDelivery& words, OnAccepted done) override;
  void answer(const std::string& prompt, const PromptAnswer& reply, OnAnswered done) override;
  void on_hook(const hooks::HookEvent& event, std::uint64_t call, HookReply reply) override;
  void on_hook_gone(std::uint64_t call) override;
  void on_state(profiles::State state) override;
  void on_agent_exit() override;

 protected:
  using MakeReader = TranscriptFollower::MakeReader;
  HookAdapter(net::AsioLoop& loop, hooks::AgentCli agent, MakeReader make_reader)
      : loop_{loop}, agent_{agent}, make_reader_{make_reader} {}

  [[nodiscard]] net::AsioLoop& loop() const { return loop_; }
  [[nodiscard]] Listener& listener() const { return *listener_; }
  [[nodiscard]] const LaunchContext& where() const { return where_; }
  /// The agent's own id of its session; empty until a hook has reported it.
  [[nodiscard]] const std::string& session() const { return session_; }
  /// Follows that transcript; no effect if it is followed already. With `since` entries from that time on are reported
  /// too.
  void follow(const std::string& record, const std::string& session, std::optional<WallMs> since = std::nullopt);
  /// The conversation continues in that transcript: its entries from that time on are reported, unless they were
  /// before.
  void move(const std::string& record, const std::string& session, WallMs not_before);
  /// The agent's output is no longer in the transcript, with the reason. A later entry is reported, and ends the
  /// failure.
  void lose_record(std::string why);
  /// The transcript is followed, and not lost.
  [[nodiscard]] bool follows() const { return transcript_ && transcript_->follows() && !lost_; }
  [[nodiscard]] bool has_lost_record() const { return lost_; }
  [[nodiscard]] const std::string& record() const { return transcript_->path(); }
  [[nodiscard]] bool has_called() const { return called_; }
  [[nodiscard]] bool has_ended() const { return ended_; }
  void leave_prompt(const std::string& prompt) { prompts_.leave(prompt); }
  void fail_interface(std::string_view way, std::string why) { listener_->on_interface_failed(way, std::move(why)); }

  /// An adapter's own handling of an entry, before the common one.
  virtual void on_own_entry(const transcripts::Entry& /*entry*/) {}
  /// The transcript was removed; that is already reported. An agent may continue in another.
  virtual void on_record_removed() {}
  /// Text for the model when its session starts; none by default.
  [[nodiscard]] virtual std::string session_context() const { return {}; }
  /// Does it say "startup" also when a person begins another session in it?
  [[nodiscard]] virtual bool starts_anew() const { return false; }
  /// After this many turns without a hook there will be none.
  [[nodiscard]] virtual int turns_before_hooks() const { return 1; }
  /// How long a permission may wait at the hook; none: as long as the agent allows.
  [[nodiscard]] virtual std::optional<Millis> prompt_timeout() const { return std::nullopt; }

 private:
  void on_entry(const transcripts::Entry& entry) override;
  void on_activity(const events::Event& event, WallMs at) override { listener_->on_event(event, at); }
  void on_transcript_problem(const std::string& sentence) override;
  void on_transcript_gone() override;
  void on_transcript_back() override { find_record_again(); }
  void find_record_again();
  [[nodiscard]] bool was_heard_on_screen() const;
  [[nodiscard]] bool is_foreign(const hooks::HookEvent& event) const;
  void take_display(const hooks::HookEvent& event);

  net::AsioLoop& loop_;
  hooks::AgentCli agent_;
  MakeReader make_reader_;
  LaunchContext where_;
  Listener* listener_ = nullptr;
  HookPrompts prompts_{std::nullopt};
  std::string session_;
  std::unique_ptr<TranscriptFollower> transcript_;  // from `start` on
  DisplayOrder display_;
  std::set<std::string> unknown_;  // types told already
  std::string why_unwired_;
  bool wired_ = false;
  bool lost_ = false;              // the record was removed, or the agent writes elsewhere
  WallMs screen_heard_until_ = 0;  // while this record was lost: turns that ended by then were heard on the screen
  bool ended_ = false;
  bool called_ = false;  // a hook came
  bool silent_ = false;  // it worked through a turn and none came
  profiles::State last_state_ = profiles::State::Unknown;
  bool in_turn_ = false;  // it was idle, and works since
  int turns_ = 0;         // without a hook
};

}  // namespace relay::adapters
