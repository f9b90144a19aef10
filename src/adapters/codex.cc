/// Codex: hooks, its rollout, its queue.
///
/// A run for one prompt (`codex exec`) prints a line for each hook, so it has none (hooks/wiring.h): its rollout is
/// found among its open files. It exits after its turn and does not read a queue, so nothing is delivered to it.
///
/// The user may switch to another thread (`/new`, `/resume`). Codex reports that only with the first prompt there, so
/// the thread on the screen is found by its locks (codex_thread.h). Until its hooks report that thread too the queue is
/// not used, and texts are typed.
#include <algorithm>

#include "adapters/agents.h"
#include "adapters/codex_queue.h"
#include "adapters/codex_rollout.h"
#include "adapters/codex_thread.h"
#include "adapters/hook_adapter.h"
#include "hooks/wiring.h"

namespace relay::adapters {
namespace {

using protocol::DeliveryMode;

/// Codex shows its dialog only after the hook has returned, and a user at its terminal must not wait for it. The daemon
/// reports at once when no rule decides (`show_dialog`); the timeout is for a daemon that does not respond.
constexpr Millis kAttendedTimeout{2'000};
constexpr Millis kUnattendedTimeout{30'000};

/// No event reports that Codex opens its rollout. It does so with the prompt, within a second of its start or when its
/// input ends, and a turn may last only seconds. A run with --ephemeral opens none.
constexpr Millis kRolloutPollInterval{100};
constexpr Millis kSlowRolloutPollInterval{2'000};
constexpr int kMaxFastPolls = 50;

constexpr std::string_view kPausedReason = "Codex does not read its queue after an interrupted turn";
constexpr std::string_view kOtherThreadReason = "Codex shows another conversation, which has had no prompt yet";

/// Codex may draw its composer before it has opened the thread that it then shows.
constexpr Millis kThreadSettle{1'000};

class Codex final : public HookAdapter {
 public:
  explicit Codex(net::AsioLoop& loop) : HookAdapter{loop, hooks::AgentCli::Codex, transcripts::codex_reader} {}

  void prepare(pty::Command& command, const LaunchContext& context) override {
    command_ = command;
    one_shot_ = hooks::is_one_shot_codex(command.argv);
    HookAdapter::prepare(command, context);
  }
  void start(Listener& listener, pid_t agent) override {
    queue_ =
        std::make_unique<CodexQueue>(loop(), command_, [this, &listener](const std::vector<std::string>& deliveries) {
          listener.deliveries().on_returned(deliveries, other_thread_shown_ ? kOtherThreadReason : kPausedReason);
          listener.on_capabilities();
        });
    HookAdapter::start(listener, agent);
    started_at_ = loop().now().wall;
    agent_ = agent;
    if (one_shot_ && std::ranges::find(command_.argv, "--ephemeral") == command_.argv.end()) poll_for_rollout();
  }
  /// A thread exists from its first prompt; before that there is no queue. Codex reads the queue after a turn, every few
  /// seconds, and then takes all texts, one turn each. After an interrupted turn it takes none until another turn has
  /// started, and while another thread is on the screen the turns are not visible: then texts are typed, once the
  /// queued ones are withdrawn.
  [[nodiscard]] NativeCapabilities capabilities() const override {
    auto can = HookAdapter::capabilities();
    if (one_shot_) {
      can.output_expected = recheck_timer_ != nullptr;
      return can;
    }
    can.state = via::kStatus;
    if (!queue_failed_ && (!queue_paused_ || queue_->is_withdrawing()) && !session().empty())
      can.by(DeliveryMode::OnIdle) = {DeliveryTiming::Anytime, via::kQueue};
    return can;
  }
  void on_state(profiles::State state) override {
    HookAdapter::on_state(state);
    if (state != profiles::State::Idle) return;
    check_thread();
    thread_timer_ = loop().after(kThreadSettle, [this] { check_thread(); });
  }
  void on_hook(const hooks::HookEvent& event, std::uint64_t call, HookReply reply) override {
    const auto before = session();
    HookAdapter::on_hook(event, call, std::move(reply));
    if (session() != before) check_thread();
  }
  void on_agent_exit() override {
    recheck_timer_ = nullptr;
    thread_timer_ = nullptr;
    ended_ = true;
    queue_->resume();
    HookAdapter::on_agent_exit();
  }
  /// Without a user at the terminal the hook stays open for a while: through it, a denial can carry its reason.
  void show_dialog(const std::string& prompt) override {
    if (context().attended) release_prompt(prompt);
  }
  void deliver(const NativeDelivery& delivery, OnAccepted done) override {
    check_thread();
    queue_->put(delivery, session(), [this, done = std::move(done)](Result<void> outcome) mutable {
      if (!outcome && !std::exchange(queue_failed_, true)) fail_interface(via::kQueue, outcome.error().message());
      done(std::move(outcome));
    });
  }

 private:
  [[nodiscard]] bool reports_new_session_as_startup() const override { return true; }  // `/new`
  [[nodiscard]] int turns_before_hooks() const override { return 2; }  // Codex's start looks like a turn
  [[nodiscard]] std::optional<Millis> prompt_timeout() const override {
    return context().attended ? kAttendedTimeout : kUnattendedTimeout;
  }

  void on_own_entry(const transcripts::Entry& entry) override {
    if (const auto* prompt = std::get_if<transcripts::ModelInput>(&entry)) queue_->on_model_input(prompt->text);
    const auto* ended = std::get_if<transcripts::TurnEnded>(&entry);
    if (ended == nullptr && !std::holds_alternative<transcripts::TurnStarted>(entry)) return;
    interrupted_ = ended != nullptr && ended->outcome == transcripts::TurnOutcome::Interrupted;
    update_queue();
  }

  /// Without locks another thread is not detected.
  void check_thread() {
    if (one_shot_ || ended_ || session().empty()) return;
    const auto thread = find_shown_thread(agent_, codex_home(command_), session());
    other_thread_shown_ = !thread.empty() && thread != session();
    update_queue();
  }

  void update_queue() {
    const bool paused = interrupted_ || other_thread_shown_;
    if (ended_ || std::exchange(queue_paused_, paused) == paused) return;
    if (paused)
      queue_->pause();
    else
      queue_->resume();
    listener().on_capabilities();
  }

  void poll_for_rollout() {
    recheck_timer_ = nullptr;
    if (follows()) return;
    if (const auto rollout = find_open_rollout(agent_, codex_home(command_)); !rollout.empty())
      return follow(rollout, thread_of_rollout(rollout), started_at_);
    const auto interval = ++polls_ < kMaxFastPolls ? kRolloutPollInterval : kSlowRolloutPollInterval;
    recheck_timer_ = loop().after(interval, [this] { poll_for_rollout(); });
  }

  pty::Command command_;
  bool one_shot_ = false;
  pid_t agent_ = 0;
  WallMs started_at_ = 0;
  int polls_ = 0;
  std::unique_ptr<net::Timer> recheck_timer_;
  std::unique_ptr<CodexQueue> queue_;
  std::unique_ptr<net::Timer> thread_timer_;
  bool queue_failed_ = false;
  bool queue_paused_ = false;        // interrupted_ or other_thread_shown_
  bool interrupted_ = false;         // the last turn was interrupted
  bool other_thread_shown_ = false;  // the screen shows a thread that the hooks have not reported
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<Adapter> make_codex(net::AsioLoop& loop) { return std::make_unique<Codex>(loop); }

}  // namespace relay::adapters
