/// Claude Code: hooks, its transcript, its session's inbox socket.
#include "adapters/agents.h"
#include "adapters/claude_inbox.h"
#include "adapters/hook_adapter.h"

namespace relay::adapters {
namespace {

using protocol::DeliveryMode;

constexpr std::size_t kMaxTogetherBytes = 16 * 1024;

class Claude final : public HookAdapter {
 public:
  explicit Claude(net::AsioLoop& loop) : HookAdapter{loop, hooks::AgentCli::Claude, transcripts::claude_reader} {}

  void prepare(pty::Command& command, const LaunchContext& where) override {
    HookAdapter::prepare(command, where);
    config_ = pty::variable(command.environment, "CLAUDE_CONFIG_DIR");
    if (config_.empty()) config_ = std::string{pty::variable(command.environment, "HOME")} + "/.claude";
  }
  void start(Listener& listener, pid_t agent) override {
    inbox_ = std::make_unique<ClaudeInbox>(loop(), config_, agent);
    HookAdapter::start(listener, agent);
  }
  [[nodiscard]] NativeCapabilities capabilities() const override {
    auto can = HookAdapter::capabilities();
    can.state = way::kStatus;
    if (!inbox_works_) return can;
    const auto ready_at = inbox_ ? inbox_->ready_at() : SteadyTime{};
    const std::size_t together = inbox_ && inbox_->runs_low() ? kMaxTogetherBytes : 0;
    can.by(DeliveryMode::OnIdle) = {DeliveryTiming::Idle, way::kInbox, ready_at, true, together};
    can.by(DeliveryMode::Immediate) = {DeliveryTiming::AnyTime, way::kInbox, ready_at, true, together};
    return can;
  }
  void deliver(const NativeDelivery& words, OnAccepted done) override {
    inbox_->put(words, session(), [this, done = std::move(done)](Result<void> outcome) mutable {
      if (!outcome && std::exchange(inbox_works_, false)) fail_interface(way::kInbox, outcome.error().message());
      done(std::move(outcome));
    });
  }
  /// A session that starts may have an inbox again.
  void on_hook(const hooks::HookEvent& event, std::uint64_t call, HookReply reply) override {
    const bool begins = event.kind == hooks::HookEventKind::SessionStart && event.subagent.empty();
    const bool mended = begins && event.agent == hooks::AgentCli::Claude && !std::exchange(inbox_works_, true);
    if (mended) listener().on_interface_recovered(way::kInbox);
    HookAdapter::on_hook(event, call, std::move(reply));
    if (mended) listener().on_capabilities();
  }

 private:
  std::string config_;
  std::unique_ptr<ClaudeInbox> inbox_;
  bool inbox_works_ = true;
};

}  // namespace

std::unique_ptr<Adapter> claude(net::AsioLoop& loop) { return std::make_unique<Claude>(loop); }

}  // namespace relay::adapters
