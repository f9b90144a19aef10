/// The agent's native interfaces as the host uses them: capabilities, prompts, usage, failures.
///
/// Without an adapter there are none: the agent is only read by its screen and typed to.
/// Invariants: open prompts are bounded; each is reported when it opens and when it closes, under a request id that is
///   this host's alone; the usage of an answer is counted once.
/// Ownership: owns the adapter; borrows the listener, which outlives it. Threading: loop thread only.
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
inline constexpr std::size_t kMaxCountedAnswers = 256;  // whose usage may still be replaced
inline constexpr std::size_t kMaxBroken = 16;

class AdapterBridgeListener {
 public:
  virtual ~AdapterBridgeListener() = default;
  virtual void on_assistant_text(std::string_view markdown) = 0;
  virtual void on_model_input(std::string_view text, std::string_view via, std::string_view id) = 0;
  virtual void on_returned(const std::vector<std::string>& deliveries, std::string_view reason) = 0;
  /// State, prompts or capabilities have changed.
  virtual void on_changed() = 0;
  /// For clients that watch: an event as JSON.
  virtual void on_client_event(const std::string& event) = 0;
  /// For the daemon.
  virtual void on_agent_event(events::Event event, WallMs at) = 0;
  virtual std::string take_pending(protocol::DeliveryMode mode, std::size_t max_bytes) = 0;
};

/// What replaces a native interface for output and delivery.
struct FallbackInterfaces {
  std::string_view hear = adapters::way::kScreen;
  std::string_view speak = adapters::way::kTerminal;
};

class AdapterBridge final : public adapters::Listener {
 public:
  /// `host`: its id, a prefix of request ids; `press`: how dialogs on its screen are answered.
  AdapterBridge(std::unique_ptr<adapters::Adapter> adapter, AdapterBridgeListener& listener, std::string host,
                profiles::DialogKeys press = profiles::DialogKeys::None, FallbackInterfaces fallback = {},
                bool terminal = true)
      : adapter_{std::move(adapter)},
        listener_{listener},
        fallback_{fallback},
        tracker_{std::move(host), press},
        terminal_{terminal} {}

  void start(net::EventLoop& loop, pid_t agent);
  /// The agent has ended, and the last of its transcript was read.
  void on_agent_exit();

  [[nodiscard]] adapters::NativeCapabilities capabilities() const;
  /// Its state by its native interfaces, an open prompt included.
  [[nodiscard]] std::optional<adapters::ReportedState> reported_state() const;
  /// Where texts for the agent go; none without an adapter. Only while `capabilities` name an interface for them.
  [[nodiscard]] adapters::DeliveryTarget* delivery_target() { return adapter_.get(); }

  void on_hook(const hooks::HookEvent& event, std::uint64_t call, adapters::Adapter::HookReply reply);
  void on_hook_gone(std::uint64_t call);
  void on_state(profiles::State state);
  void on_shown(std::string_view title, bool start_page);
  /// What the agent's screen shows. The time of the next call without any change.
  std::optional<SteadyTime> on_screen(profiles::State state, const profiles::ScreenFindings& findings,
                                      relay::Timestamp now);
  /// A dialog is on the screen that is reported as a prompt in a moment.
  [[nodiscard]] bool dialog_settles() const { return prompts_.empty() && tracker_.dialog_settles(); }
  /// The events of its open prompts.
  [[nodiscard]] std::vector<events::Event> requests() const { return tracker_.open(); }
  [[nodiscard]] std::vector<events::Event> unanswered() const { return tracker_.unanswered(); }

  /// By a native interface. `done` is called once.
  void answer(const AnswerPrompt& request, adapters::Adapter::OnAnswered done);
  /// No rule decides it: the agent may show its own dialog.
  void show_dialog(std::string_view request);
  /// The prompt is on the screen alone.
  [[nodiscard]] bool on_screen_alone(const AnswerPrompt& request) const {
    return tracker_.on_screen_alone(request.prompt);
  }
  /// Succeeds when keys may answer it now that this is on the screen.
  Result<void> check_keys(const AnswerPrompt& request, const profiles::ScreenFindings& seen);
  /// Keys that answer it are being pressed.
  void press(const AnswerPrompt& request) {
    tracker_.press(request.prompt, {request.by, request.reply, request.timed_out});
  }
  /// Its dialog has closed after them.
  void taken(const AnswerPrompt& request) { tell(tracker_.taken(request.prompt, loop_->now().wall)); }
  /// Keys were pressed, and their effect is not known.
  void abandon(const AnswerPrompt& request) { tell(tracker_.abandon(request.prompt)); }
  [[nodiscard]] bool is_open(const AnswerPrompt& request) const { return tracker_.is_open(request.prompt); }
  void describe_prompts(text::JsonWriter& out, WallMs now) const;
  /// The rule that approved last; empty: none did.
  [[nodiscard]] const std::string& approving_rule() const { return last_rule_; }
  /// `interfaces`, `failedInterfaces`, `usage` and `approvedByRules`.
  void describe(text::JsonWriter& out) const;
  /// The interface of deliveries that no native interface takes.
  [[nodiscard]] std::string_view typed_via() const { return terminal_ ? fallback_.speak : std::string_view{}; }
  /// The modes it supports, natively, by a hook or typed.
  [[nodiscard]] protocol::DeliveryModes modes() const;
  /// Its capabilities as a session reports them to the daemon: a JSON object.
  [[nodiscard]] std::string capability_codes() const;

 private:
  struct OpenPrompt {
    adapters::Prompt prompt;
    SteadyTime since{};
    std::optional<AnswerRecord> answered = {};  // through the host; the agent has not taken it yet
  };
  struct FailedInterface {
    std::string via, why;
  };

  void on_assistant_text(std::string_view markdown, std::string_view via) override;
  void on_model_input(std::string_view text, std::string_view via, std::string_view id) override;
  void on_state_reported() override { listener_.on_changed(); }
  void on_capabilities() override { listener_.on_changed(); }
  void on_prompt(const adapters::Prompt& prompt) override;
  void on_prompt_closed(const std::string& id, const adapters::PromptOutcome& end) override;
  void on_usage(const adapters::TokenUsage& usage) override;
  void on_event(const events::Event& event, WallMs at) override;
  void on_failure(std::string_view what, std::string_view via) override;
  void on_interface_failed(std::string_view via, std::string why) override;
  void on_interface_recovered(std::string_view via) override;
  void on_returned(const std::vector<std::string>& deliveries, std::string_view reason) override;
  std::string take_pending(protocol::DeliveryMode mode, std::size_t max_bytes) override;
  void tell(PromptTracker::Events events);
  [[nodiscard]] OpenPrompt* find_prompt(std::string_view id);

  std::unique_ptr<adapters::Adapter> adapter_;
  AdapterBridgeListener& listener_;
  FallbackInterfaces fallback_;
  net::EventLoop* loop_ = nullptr;
  std::deque<OpenPrompt> prompts_;
  PromptTracker tracker_;
  std::deque<adapters::TokenUsage> usage_;  // the newest, each may be replaced
  adapters::TokenUsage total_usage_;        // of all, those in `usage_` included
  std::deque<FailedInterface> failed_;
  std::string last_failure_;
  std::size_t approved_by_rules_ = 0;
  std::string last_rule_;  // that approved
  bool terminal_;          // the agent runs in a terminal of the host
  bool ended_ = false;
};

}  // namespace relay::host
