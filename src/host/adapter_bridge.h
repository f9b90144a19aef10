/// The agent's native interfaces as the host uses them: capabilities, prompts, usage, failures. The adapter reports
/// output and deliveries directly to their listeners.
///
/// Without an adapter only screen and terminal are used.
/// Invariants: open prompts are bounded; each is reported when it opens and when it closes, under a request id that no
///   other host uses; the usage of a reply is counted once.
/// Ownership: owns the adapter; borrows its outputs, which outlive it. Threading: loop thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "adapters/adapter.h"
#include "host/control/host_protocol.h"
#include "host/prompts/prompt_tracker.h"
#include "text/json_writer.h"

namespace relay::host {

inline constexpr std::size_t kMaxOpenPrompts = 64;
inline constexpr std::size_t kMaxUsageEntries = 256;  // replies whose usage may still be replaced
inline constexpr std::size_t kMaxFailedInterfaces = 16;

/// Where the reports of the adapter and of the bridge go; all outlive the bridge.
struct AdapterBridgeOutputs {
  adapters::OutputListener& output;        // called by the adapter itself
  adapters::DeliveryListener& deliveries;  // likewise
  /// An event of the agent, for the daemon.
  std::function<void(events::Event event, WallMs at)> report_event;
  /// An event as JSON, for clients that watch.
  std::function<void(const std::string& event)> notify_clients;
  /// State, prompts or capabilities have changed.
  std::function<void()> on_changed;
};

/// Used for output and delivery where no native interface serves them.
struct FallbackInterfaces {
  std::string_view output = adapters::via::kScreen;
  std::string_view delivery = adapters::via::kTerminal;
};

class AdapterBridge final : public adapters::Listener {
 public:
  /// `host`: the prefix of request ids; `press`: how keys answer dialogs; `terminal`: the agent runs in a terminal.
  explicit AdapterBridge(std::unique_ptr<adapters::Adapter> adapter, std::string host,
                         profiles::DialogKeys press = profiles::DialogKeys::None, FallbackInterfaces fallback = {},
                         bool terminal = true)
      : adapter_{std::move(adapter)}, fallback_{fallback}, tracker_{std::move(host), press}, terminal_{terminal} {}

  void start(net::EventLoop& loop, pid_t agent, AdapterBridgeOutputs outputs);
  /// The agent has ended, and its transcript was read to the end.
  void on_agent_exit();

  [[nodiscard]] adapters::NativeCapabilities capabilities() const;
  /// The state by native interfaces; an open prompt means blocked.
  [[nodiscard]] std::optional<adapters::ReportedState> reported_state() const;
  /// Null without an adapter. To be used only while `capabilities` name an interface for the mode.
  [[nodiscard]] adapters::DeliveryTarget* delivery_target() { return adapter_.get(); }

  void on_hook(const hooks::HookEvent& event, std::uint64_t call, adapters::Adapter::HookReply reply);
  void on_hook_closed(std::uint64_t call);
  void on_state(profiles::State state);
  void on_window_title(std::string_view title, bool start_page);
  /// An update of the screen. Returns when to call again without a change.
  std::optional<SteadyTime> on_screen(profiles::State state, const profiles::ScreenFindings& findings,
                                      relay::Timestamp now);
  /// A dialog is on the screen and not yet reported as a prompt.
  [[nodiscard]] bool has_unreported_dialog() const { return prompts_.empty() && tracker_.has_unreported_dialog(); }
  /// The events of the open prompts.
  [[nodiscard]] std::vector<events::Event> requests() const { return tracker_.open(); }
  [[nodiscard]] std::vector<events::Event> unanswered() const { return tracker_.unanswered(); }

  /// Answers via the native interface. `done` is called once.
  void answer(const AnswerPrompt& request, adapters::Adapter::OnAnswered done);
  /// No rule decides this prompt: the agent may show its own dialog.
  void show_dialog(std::string_view request);
  /// The prompt is only on the screen.
  [[nodiscard]] bool on_screen_alone(const AnswerPrompt& request) const {
    return tracker_.on_screen_alone(request.prompt);
  }
  /// Succeeds when keys may answer the dialog in these findings.
  Result<void> check_keys(const AnswerPrompt& request, const profiles::ScreenFindings& seen);
  /// Keys that answer the prompt are being pressed.
  void press(const AnswerPrompt& request) {
    tracker_.press(request.prompt, {request.by, request.reply, request.timed_out});
  }
  /// The dialog has closed after the keys.
  void on_answer_accepted(const AnswerPrompt& request) {
    report(tracker_.on_answer_accepted(request.prompt, loop_->now().wall));
  }
  /// Keys were pressed with an unknown effect.
  void abandon(const AnswerPrompt& request) { report(tracker_.abandon(request.prompt)); }
  [[nodiscard]] bool is_open(const AnswerPrompt& request) const { return tracker_.is_open(request.prompt); }
  void describe_prompts(text::JsonWriter& out, WallMs now) const;
  /// The last rule that approved a permission; may be empty.
  [[nodiscard]] const std::string& approving_rule() const { return last_rule_; }
  /// `interfaces`, `failedInterfaces`, `usage` and `approvedByRules`.
  void describe(text::JsonWriter& out) const;
  /// The interface of deliveries without a native one.
  [[nodiscard]] std::string_view typed_via() const { return terminal_ ? fallback_.delivery : std::string_view{}; }
  /// The modes this session supports, natively, via hook or typed.
  [[nodiscard]] protocol::DeliveryModes modes() const;
  /// The capabilities for SESSION_STATE: a JSON object.
  [[nodiscard]] std::string capability_codes() const;

 private:
  struct OpenPrompt {
    adapters::Prompt prompt;
    SteadyTime since{};
    std::optional<AnswerRecord> answered = {};  // via the host; the agent has not confirmed it yet
  };
  struct FailedInterface {
    std::string via, why;
  };

  adapters::OutputListener& output() override { return outputs_->output; }
  adapters::DeliveryListener& deliveries() override { return outputs_->deliveries; }
  void on_state_reported() override { outputs_->on_changed(); }
  void on_capabilities() override { outputs_->on_changed(); }
  void on_prompt(const adapters::Prompt& prompt) override;
  void on_prompt_closed(const std::string& id, const adapters::PromptOutcome& end) override;
  void on_usage(const adapters::TokenUsage& usage) override;
  void on_event(const events::Event& event, WallMs at) override;
  void on_failure(std::string_view what, std::string_view via) override;
  void on_interface_failed(std::string_view via, std::string why) override;
  void on_interface_recovered(std::string_view via) override;
  void report(PromptTracker::Events events);
  [[nodiscard]] OpenPrompt* find_prompt(std::string_view id);

  std::unique_ptr<adapters::Adapter> adapter_;
  std::optional<AdapterBridgeOutputs> outputs_;  // from `start` on
  FallbackInterfaces fallback_;
  net::EventLoop* loop_ = nullptr;
  std::deque<OpenPrompt> prompts_;
  PromptTracker tracker_;
  std::deque<adapters::TokenUsage> usage_;  // the newest; each may be replaced
  adapters::TokenUsage total_usage_;        // of all replies, those in `usage_` included
  std::deque<FailedInterface> failed_;
  std::string last_failure_;
  std::size_t approved_by_rules_ = 0;
  std::string last_rule_;  // the last that approved
  bool terminal_;          // the agent runs in a terminal of the host
  bool ended_ = false;
};

}  // namespace relay::host
