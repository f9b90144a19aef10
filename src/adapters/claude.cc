/// Claude Code: hooks, its transcript, its session's inbox socket.
#include "adapters/agents.h"
#include "adapters/claude_inbox.h"
#include "adapters/hook_adapter.h"

namespace relay::adapters {
namespace {

using protocol::DeliveryMode;

constexpr std::size_t kMaxBundleBytes = 16 * 1024;

class Claude final : public HookAdapter {
 public:
  explicit Claude(net::AsioLoop& loop) : HookAdapter{loop, hooks::AgentCli::Claude, transcripts::claude_reader} {}

  void prepare(pty::Command& command, const LaunchContext& context) override {
    HookAdapter::prepare(command, context);
    config_ = pty::variable(command.environment, "CLAUDE_CONFIG_DIR");
    if (config_.empty()) config_ = std::string{pty::variable(command.environment, "HOME")} + "/.claude";
  }
  void start(Listener& listener, pid_t agent) override {
    inbox_ = std::make_unique<ClaudeInbox>(loop(), config_, agent);
    HookAdapter::start(listener, agent);
  }
  [[nodiscard]] NativeCapabilities capabilities() const override {
    auto can = HookAdapter::capabilities();
    can.state = via::kStatus;
    if (inbox_failed_) return can;
    const auto ready_at = inbox_ ? inbox_->ready_at() : SteadyTime{};
    const std::size_t bundle = inbox_ && inbox_->is_running_low() ? kMaxBundleBytes : 0;
    can.by(DeliveryMode::OnIdle) = {DeliveryTiming::WhenIdle, via::kInbox, ready_at, true, bundle};
    can.by(DeliveryMode::Immediate) = {DeliveryTiming::Anytime, via::kInbox, ready_at, true, bundle};
    return can;
  }
  void deliver(const NativeDelivery& delivery, OnAccepted done) override {
    inbox_->put(delivery, session(), [this, done = std::move(done)](Result<void> outcome) mutable {
      if (!outcome && !std::exchange(inbox_failed_, true)) fail_interface(via::kInbox, outcome.error().message());
      done(std::move(outcome));
    });
  }
  /// After a failure, the next session may have an inbox.
  void on_hook(const hooks::HookEvent& event, std::uint64_t call, HookReply reply) override {
    const bool starts = event.kind == hooks::HookEventKind::SessionStart && event.subagent.empty();
    const bool recovered = starts && event.agent == hooks::AgentCli::Claude && std::exchange(inbox_failed_, false);
    if (recovered) listener().on_interface_recovered(via::kInbox);
    HookAdapter::on_hook(event, call, std::move(reply));
    if (recovered) listener().on_capabilities();
  }

 private:
  std::string config_;
  std::unique_ptr<ClaudeInbox> inbox_;
  bool inbox_failed_ = false;
};

}  // namespace

std::unique_ptr<Adapter> make_claude(net::AsioLoop& loop) { return std::make_unique<Claude>(loop); }

}  // namespace relay::adapters
