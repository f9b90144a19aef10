/// Codex: hooks, its rollout, its queue.
///
/// A run for one prompt (`codex exec`) prints a line for each hook, so it has none (hooks/wiring.h): its rollout is
/// found among its open files. It ends after its turn and does not read a queue, so nothing is delivered to it.
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

/// Codex shows its dialog only after the hook has returned: a user at its terminal must not wait for it. The daemon
/// reports at once when no rule decides (`show_dialog`); the timeout is for a daemon that does not respond.
constexpr Millis kAttendedTimeout{2'000};
constexpr Millis kUnattendedTimeout{30'000};

/// No event reports that Codex opens its rollout. It does so with the prompt, within a second of its start or when its
/// input ends, and a turn may last only seconds. A run with --ephemeral opens none.
constexpr Millis kRolloutLookInterval{100};
constexpr Millis kLateRolloutLookInterval{2'000};
constexpr int kFrequentLooks = 50;

constexpr std::string_view kPausedReason = "Codex takes nothing from it after an interrupted turn";
constexpr std::string_view kOtherThreadReason = "Codex shows another conversation, which has had no prompt yet";

/// Codex may draw its composer before it has opened the thread that it then shows.
constexpr Millis kThreadSettle{1'000};

class Codex final : public HookAdapter {
 public:
  explicit Codex(net::AsioLoop& loop) : HookAdapter{loop, hooks::AgentCli::Codex, transcripts::codex_reader} {}

  void prepare(pty::Command& command, const LaunchContext& where) override {
    serve_ = command;
    one_shot_ = hooks::is_one_shot_codex(command.argv);
    HookAdapter::prepare(command, where);
  }
  void start(Listener& listener, pid_t agent) override {
    queue_ =
        std::make_unique<CodexQueue>(loop(), serve_, [this, &listener](const std::vector<std::string>& deliveries) {
          listener.on_returned(deliveries, shows_other_ ? kOtherThreadReason : kPausedReason);
          listener.on_capabilities();
        });
    HookAdapter::start(listener, agent);
    started_at_ = loop().now().wall;
    agent_ = agent;
    if (one_shot_ && std::ranges::find(serve_.argv, "--ephemeral") == serve_.argv.end()) look_for_rollout();
  }
  /// A thread exists from its first prompt; before that there is no queue. The queue itself waits for the end of a
  /// turn; Codex reads it only every few seconds, and then takes all texts, one turn each. After an interrupted turn it
  /// takes none until another turn has started, and while another thread is on the screen the turns are not visible:
  /// then texts are typed, once the queued ones are withdrawn.
  [[nodiscard]] NativeCapabilities capabilities() const override {
    auto can = HookAdapter::capabilities();
    if (one_shot_) {
      can.hears_soon = recheck_timer_ != nullptr;
      return can;
    }
    can.state = way::kStatus;
    if (queue_works_ && (!queue_paused_ || queue_->is_withdrawing()) && !session().empty())
      can.by(DeliveryMode::OnIdle) = {DeliveryTiming::AnyTime, way::kQueue};
    return can;
  }
  void on_state(profiles::State state) override {
    HookAdapter::on_state(state);
    if (state != profiles::State::Idle) return;
    look_at_thread();
    thread_timer_ = loop().after(kThreadSettle, [this] { look_at_thread(); });
  }
  void on_hook(const hooks::HookEvent& event, std::uint64_t call, HookReply reply) override {
    const auto before = session();
    HookAdapter::on_hook(event, call, std::move(reply));
    if (session() != before) look_at_thread();
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
    if (where().attended) leave_prompt(prompt);
  }
  void deliver(const NativeDelivery& words, OnAccepted done) override {
    look_at_thread();
    queue_->put(words, session(), [this, done = std::move(done)](Result<void> outcome) mutable {
      if (!outcome && std::exchange(queue_works_, false)) fail_interface(way::kQueue, outcome.error().message());
      done(std::move(outcome));
    });
  }

 private:
  [[nodiscard]] bool starts_anew() const override { return true; }     // `/new`
  [[nodiscard]] int turns_before_hooks() const override { return 2; }  // its start looks like a turn
  [[nodiscard]] std::optional<Millis> prompt_timeout() const override {
    return where().attended ? kAttendedTimeout : kUnattendedTimeout;
  }

  void on_own_entry(const transcripts::Entry& entry) override {
    if (const auto* prompt = std::get_if<transcripts::ModelInput>(&entry)) queue_->on_model_input(prompt->text);
    const auto* ended = std::get_if<transcripts::TurnEnded>(&entry);
    if (ended == nullptr && !std::holds_alternative<transcripts::TurnStarted>(entry)) return;
    interrupted_ = ended != nullptr && ended->outcome == transcripts::TurnOutcome::Interrupted;
    update_queue();
  }

  /// Without locks another thread is not detected.
  void look_at_thread() {
    if (one_shot_ || ended_ || session().empty()) return;
    const auto shown = find_shown_thread(agent_, codex_home(serve_), session());
    shows_other_ = !shown.empty() && shown != session();
    update_queue();
  }

  void update_queue() {
    const bool paused = interrupted_ || shows_other_;
    if (ended_ || std::exchange(queue_paused_, paused) == paused) return;
    if (paused)
      queue_->pause();
    else
      queue_->resume();
    listener().on_capabilities();
  }

  void look_for_rollout() {
    recheck_timer_ = nullptr;
    if (follows()) return;
    if (const auto rollout = find_open_rollout(agent_, codex_home(serve_)); !rollout.empty())
      return follow(rollout, thread_of_rollout(rollout), started_at_);
    const auto interval = ++looks_ < kFrequentLooks ? kRolloutLookInterval : kLateRolloutLookInterval;
    recheck_timer_ = loop().after(interval, [this] { look_for_rollout(); });
  }

  pty::Command serve_;
  bool one_shot_ = false;
  pid_t agent_ = 0;
  WallMs started_at_ = 0;
  int looks_ = 0;
  std::unique_ptr<net::Timer> recheck_timer_;
  std::unique_ptr<CodexQueue> queue_;
  std::unique_ptr<net::Timer> thread_timer_;
  bool queue_works_ = true;
  bool queue_paused_ = false;  // for one of the next two reasons
  bool interrupted_ = false;   // the last turn was interrupted
  bool shows_other_ = false;   // a thread that its hooks have not reported
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<Adapter> codex(net::AsioLoop& loop) { return std::make_unique<Codex>(loop); }

}  // namespace relay::adapters
