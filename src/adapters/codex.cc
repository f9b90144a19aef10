/// Codex: hooks, its rollout, its queue.
#include "adapters/agents.h"
#include "adapters/codex_queue.h"
#include "adapters/hooked_adapter.h"

namespace relay::adapters {
namespace {

using protocol::DeliveryMode;

/// Codex shows its dialog only once the hook has returned: a person at its terminal must not wait for it. The daemon says
/// at once when no rule decides (`show_dialog`); the patience is for a daemon that says nothing.
constexpr Millis kAttendedPatience{2'000};
constexpr Millis kUnattendedPatience{30'000};

class Codex final : public HookedAdapter {
 public:
  Codex() : HookedAdapter{hooks::Agent::Codex, transcripts::codex_reader} {}

  void prepare(pty::Command& command, const Surroundings& where) override {
    serve_ = command;
    HookedAdapter::prepare(command, where);
  }
  void start(net::AsioLoop& loop, Listener& listener, pid_t agent) override {
    queue_ = std::make_unique<CodexQueue>(loop, serve_);
    HookedAdapter::start(loop, listener, agent);
  }
  /// A thread exists from its first prompt on; before that there is nothing to queue to. The queue itself waits for the
  /// end of a turn; Codex looks into it only every few seconds, and then takes all that is there, one turn each.
  [[nodiscard]] Capabilities capabilities() const override {
    auto can = HookedAdapter::capabilities();
    can.know = way::kStatus;
    if (queue_works_ && !session().empty()) can.by(DeliveryMode::OnIdle) = {Moment::AnyTime, way::kQueue};
    return can;
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

  pty::Command serve_;
  std::unique_ptr<CodexQueue> queue_;
  bool queue_works_ = true;
};

}  // namespace

std::unique_ptr<Adapter> codex() { return std::make_unique<Codex>(); }

}  // namespace relay::adapters
