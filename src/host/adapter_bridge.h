/// The agent's own doors as the host uses them: what they can do now, what came through them, what broke and why.
///
/// Without an adapter nothing is ever possible and nothing comes: the agent is then only seen and typed to.
/// Invariants: prompts are bounded, and told when they open and when they close, with a request id that is this host's
///   alone; usage is counted once per answer.
/// Ownership: owns the adapter; borrows the keeper, which outlives it. Threading: loop thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "adapters/adapter.h"
#include "host/control/host_protocol.h"
#include "host/prompts/prompt_tracker.h"
#include "text/json_writer.h"

namespace relay::host {

inline constexpr std::size_t kMaxOpenPrompts = 64;
inline constexpr std::size_t kMaxCountedAnswers = 256;  // of the model that may still be told anew
inline constexpr std::size_t kMaxBroken = 16;

class AdapterBridgeListener {
 public:
  virtual ~AdapterBridgeListener() = default;
  virtual void on_heard(std::string_view markdown) = 0;
  virtual void on_given(std::string_view text, std::string_view way, std::string_view id) = 0;
  virtual void on_returned(const std::vector<std::string>& deliveries, std::string_view reason) = 0;
  /// State, prompts or what is possible have changed.
  virtual void on_changed() = 0;
  /// For those who watch: an event as JSON.
  virtual void on_native_event(const std::string& event) = 0;
  /// For the daemon: what the agent did or asks.
  virtual void on_agent_event(events::Event event, WallMs at) = 0;
  virtual std::string take_words(protocol::DeliveryMode mode, std::size_t max_bytes) = 0;
};

/// How an agent is heard and spoken to where it has no interface of its own for that.
struct FallbackWays {
  std::string_view hear = adapters::way::kScreen;
  std::string_view speak = adapters::way::kTerminal;
};

class AdapterBridge final : public adapters::Listener {
 public:
  /// `host`: its id, for the ids of requests; `press`: how dialogs on its screen are answered.
  AdapterBridge(std::unique_ptr<adapters::Adapter> adapter, AdapterBridgeListener& keeper, std::string host,
                profiles::DialogKeys press = profiles::DialogKeys::None, FallbackWays fallback = {},
                bool terminal = true)
      : adapter_{std::move(adapter)},
        keeper_{keeper},
        fallback_{fallback},
        asked_{std::move(host), press},
        terminal_{terminal} {}

  void start(net::EventLoop& loop, pid_t agent);
  /// The agent has ended, and what its record said last was read.
  void on_agent_gone();

  [[nodiscard]] adapters::NativeCapabilities capabilities() const;
  /// What its doors say of its state, an open prompt included.
  [[nodiscard]] std::optional<adapters::ReportedState> reported_state() const;
  /// Where texts for the agent go; none without an adapter. Only while `capabilities` name an interface for them.
  [[nodiscard]] adapters::DeliveryTarget* delivery_target() { return adapter_.get(); }

  void on_hook(const hooks::HookEvent& event, std::uint64_t call, adapters::Adapter::HookReply reply);
  void on_hook_gone(std::uint64_t call);
  void on_state(profiles::State state);
  void on_shown(std::string_view title, bool start_page);
  /// What is on the agent's screen; when to call again although nothing has changed.
  std::optional<SteadyTime> on_screen(profiles::State state, const profiles::ScreenFindings& findings,
                                      relay::Timestamp now);
  /// A dialog is on the screen, and what it asks is told in a moment.
  [[nodiscard]] bool dialog_settles() const { return prompts_.empty() && asked_.dialog_settles(); }
  /// What it asks and has not been answered, as it was told.
  [[nodiscard]] std::vector<events::Event> requests() const { return asked_.open(); }
  [[nodiscard]] std::vector<events::Event> unanswered() const { return asked_.unanswered(); }

  /// Through a door of the agent's; told once.
  void answer(const AnswerPrompt& wish, adapters::Adapter::OnAnswered done);
  /// No rule decides it: the agent's own dialog may be shown.
  void show_dialog(std::string_view request);
  /// It is asked on the screen alone.
  [[nodiscard]] bool on_screen_alone(const AnswerPrompt& wish) const { return asked_.on_screen_alone(wish.prompt); }
  /// May keys answer it now that this is on the screen? The error says why not.
  Result<void> may_press(const AnswerPrompt& wish, const profiles::ScreenFindings& seen);
  /// Enter is being pressed for it.
  void press(const AnswerPrompt& wish) { asked_.press(wish.prompt, {wish.by, wish.reply, wish.timed_out}); }
  /// Its dialog was seen to take them.
  void taken(const AnswerPrompt& wish) { tell(asked_.taken(wish.prompt, loop_->now().wall)); }
  /// Keys were pressed, and it is not known what became of them.
  void leave_alone(const AnswerPrompt& wish) { tell(asked_.abandon(wish.prompt)); }
  [[nodiscard]] bool is_asked(const AnswerPrompt& wish) const { return asked_.is_open(wish.prompt); }
  void describe_prompts(text::JsonWriter& out, WallMs now) const;
  /// The rule that approved last; empty: none did.
  [[nodiscard]] const std::string& approving_rule() const { return last_rule_; }
  /// `ways`, `usage`, `broken` and `approvedByRules`.
  void describe(text::JsonWriter& out) const;
  /// By which words reach it that no interface of its own takes.
  [[nodiscard]] std::string_view typed_way() const { return terminal_ ? fallback_.speak : std::string_view{}; }
  /// When it can be spoken to: typed or by a door; what a hook takes only while it is called.
  [[nodiscard]] protocol::DeliveryModes modes() const;
  /// What it can do, as a session tells the daemon: a JSON object.
  [[nodiscard]] std::string capability_codes() const;

 private:
  struct OpenPrompt {
    adapters::Prompt prompt;
    SteadyTime since{};
    std::optional<AnswerRecord> answered = {};  // through us; the agent has not taken it yet
  };
  struct FailedInterface {
    std::string via, why;
  };

  void on_assistant_text(std::string_view markdown, std::string_view way) override;
  void on_model_input(std::string_view text, std::string_view way, std::string_view id) override;
  void on_state_reported() override { keeper_.on_changed(); }
  void on_capabilities() override { keeper_.on_changed(); }
  void on_prompt(const adapters::Prompt& prompt) override;
  void on_prompt_closed(const std::string& id, const adapters::PromptOutcome& end) override;
  void on_usage(const adapters::TokenUsage& usage) override;
  void on_event(const events::Event& event, WallMs at) override;
  void on_failure(std::string_view what, std::string_view way) override;
  void on_interface_failed(std::string_view way, std::string why) override;
  void on_interface_recovered(std::string_view way) override;
  void on_returned(const std::vector<std::string>& deliveries, std::string_view reason) override;
  std::string take_pending(protocol::DeliveryMode mode, std::size_t max_bytes) override;
  void tell(PromptTracker::Told events);
  [[nodiscard]] OpenPrompt* find_prompt(std::string_view id);

  std::unique_ptr<adapters::Adapter> adapter_;
  AdapterBridgeListener& keeper_;
  FallbackWays fallback_;
  net::EventLoop* loop_ = nullptr;
  std::deque<OpenPrompt> prompts_;
  PromptTracker asked_;
  std::deque<adapters::TokenUsage> counted_;  // the newest, each may be told anew
  adapters::TokenUsage total_;                // of all, those in `counted_` included
  std::deque<FailedInterface> broken_;
  std::string last_failure_;
  std::size_t approved_by_rules_ = 0;
  std::string last_rule_;  // that approved
  bool terminal_;          // the agent runs in one of ours
  bool ended_ = false;
};

}  // namespace relay::host
