/// Codex: hooks, its rollout, its queue.
///
/// A run for one prompt (`codex exec`) prints a line for each hook, so it has none (hooks/wiring.h): its rollout is found among the
/// files it has open. It ends after its turn and looks into no queue, so nothing is delivered to it.
#include <algorithm>

#include "adapters/agents.h"
#include "adapters/codex_queue.h"
#include "adapters/codex_rollout.h"
#include "adapters/hooked_adapter.h"
#include "hooks/wiring.h"

namespace relay::adapters {
namespace {

using protocol::DeliveryMode;

/// Codex shows its dialog only once the hook has returned: a person at its terminal must not wait for it. The daemon says
/// at once when no rule decides (`show_dialog`); the patience is for a daemon that says nothing.
constexpr Millis kAttendedPatience{2'000};
constexpr Millis kUnattendedPatience{30'000};

/// Nothing tells when Codex opens its rollout. It does so with the prompt, within a second of its start or when its input ends,
/// and a turn may last only seconds. A run with --ephemeral opens none.
constexpr Millis kRolloutLookInterval{100};
constexpr Millis kLateRolloutLookInterval{2'000};
constexpr int kFrequentLooks = 50;

constexpr std::string_view kPausedReason = "Codex takes nothing from it after an interrupted turn";

class Codex final : public HookedAdapter {
 public:
  Codex() : HookedAdapter{hooks::Agent::Codex, transcripts::codex_reader} {}

  void prepare(pty::Command& command, const Surroundings& where) override {
    serve_ = command;
    one_shot_ = hooks::is_one_shot_codex(command.argv);
    HookedAdapter::prepare(command, where);
  }
  void start(net::AsioLoop& loop, Listener& listener, pid_t agent) override {
    queue_ = std::make_unique<CodexQueue>(loop, serve_, [&listener](const std::vector<std::string>& deliveries) {
      listener.on_returned(deliveries, kPausedReason);
      listener.on_capabilities();
    });
    HookedAdapter::start(loop, listener, agent);
    started_at_ = loop.now().wall;
    agent_ = agent;
    if (one_shot_ && std::ranges::find(serve_.argv, "--ephemeral") == serve_.argv.end()) look_for_rollout();
  }
  /// A thread exists from its first prompt on; before that there is nothing to queue to. The queue itself waits for the
  /// end of a turn; Codex looks into it only every few seconds, and then takes all that is there, one turn each.
  /// After an interrupted turn it takes nothing until another turn has begun: then texts are typed, once those that were
  /// queued are back.
  [[nodiscard]] Capabilities capabilities() const override {
    auto can = HookedAdapter::capabilities();
    if (one_shot_) {
      can.hears_soon = look_timer_ != nullptr;
      return can;
    }
    can.know = way::kStatus;
    if (queue_works_ && (!queue_paused_ || queue_->is_withdrawing()) && !session().empty())
      can.by(DeliveryMode::OnIdle) = {Moment::AnyTime, way::kQueue};
    return can;
  }
  void on_ended() override {
    look_timer_ = nullptr;
    ended_ = true;
    queue_->resume();
    HookedAdapter::on_ended();
  }
  /// Where no person sits before it the hook stays open for a while: by it, a refusal can carry its reason.
  void show_dialog(const std::string& prompt) override {
    if (where().attended) leave_prompt(prompt);
  }
  void speak(const Words& words, OnHanded done) override {
    queue_->put(words, session(), [this, done = std::move(done)](Result<void> outcome) mutable {
      if (!outcome && std::exchange(queue_works_, false)) break_way(way::kQueue, outcome.error().message());
      done(std::move(outcome));
    });
  }

 private:
  [[nodiscard]] bool starts_anew() const override { return true; }     // `/new`
  [[nodiscard]] int turns_before_hooks() const override { return 2; }  // its start looks like a turn
  [[nodiscard]] std::optional<Millis> prompt_patience() const override {
    return where().attended ? kAttendedPatience : kUnattendedPatience;
  }

  void on_own_entry(const transcripts::Entry& entry) override {
    if (const auto* prompt = std::get_if<transcripts::Prompt>(&entry)) queue_->on_model_input(prompt->text);
    const auto* ended = std::get_if<transcripts::TurnEnded>(&entry);
    if (ended == nullptr && !std::holds_alternative<transcripts::TurnStarted>(entry)) return;
    const bool paused = ended != nullptr && ended->ending == transcripts::Ending::Interrupted;
    if (ended_ || std::exchange(queue_paused_, paused) == paused) return;
    if (paused)
      queue_->pause();
    else
      queue_->resume();
    listener().on_capabilities();
  }

  void look_for_rollout() {
    look_timer_ = nullptr;
    if (follows()) return;
    if (const auto rollout = find_open_rollout(agent_, codex_home(serve_)); !rollout.empty())
      return follow(rollout, thread_of_rollout(rollout), started_at_);
    const auto interval = ++looks_ < kFrequentLooks ? kRolloutLookInterval : kLateRolloutLookInterval;
    look_timer_ = loop().after(interval, [this] { look_for_rollout(); });
  }

  pty::Command serve_;
  bool one_shot_ = false;
  pid_t agent_ = 0;
  WallMs started_at_ = 0;
  int looks_ = 0;
  std::unique_ptr<net::Timer> look_timer_;
  std::unique_ptr<CodexQueue> queue_;
  bool queue_works_ = true;
  bool queue_paused_ = false;  // by an interrupted turn
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<Adapter> codex() { return std::make_unique<Codex>(); }

}  // namespace relay::adapters
