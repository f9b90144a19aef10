#include "tmux/termination.h"

#include <poll.h>

#include <algorithm>
#include <csignal>

#include "net/asio_loop.h"
#include "pty/child.h"

namespace relay::tmux {

Termination::Termination(net::AsioLoop& loop, pty::ProcessTree tree, pid_t leader, std::function<void()> on_killing)
    : loop_{loop}, tree_{std::move(tree)}, leader_{leader}, on_killing_{std::move(on_killing)} {}

Termination::~Termination() = default;

bool Termination::start(Millis grace) {
  const auto kill_at = loop_.now().steady + grace;
  if (stage_ == Stage::No) {
    stage_ = Stage::Requested;
    notify_all({SIGTERM, SIGCONT});
    hang_up_timer_ = loop_.after(grace / 2, [this] { notify_all({SIGHUP, SIGCONT}); });
  } else if (stage_ == Stage::Killing || kill_at >= kill_at_) {
    return false;
  }
  kill_at_ = kill_at;
  grace_timer_ = loop_.at(kill_at, [this] {
    stage_ = Stage::Killing;
    hang_up_timer_.reset();
    kill_again();
    on_killing_();
  });
  return true;
}

bool Termination::has_given_up() const { return killing() && loop_.now().steady >= kill_at_ + pty::kKillTimeout; }

void Termination::kill_now() {
  const auto give_up_at = loop_.now().steady + pty::kKillTimeout;
  while (tree_.signal_all(SIGKILL) > 0 && loop_.now().steady < give_up_at) ::poll(nullptr, 0, 1);
}

void Termination::stop() {
  hang_up_timer_.reset();
  grace_timer_.reset();
}

/// Signals the group first: that also reaches a process that is being forked. No process gets the same signal twice.
void Termination::notify_all(std::initializer_list<int> signals) {
  const auto members = tree_.running();
  const bool leads = std::ranges::any_of(members, [this](const auto& one) { return one.id.pid == leader_; });
  const pid_t own = leads ? leader_ : -1;
  for (const int number : signals) {
    if (own > 1) ::kill(-own, number);
    for (const auto& one : members)
      if (one.group != own) pty::send_signal(one.id, number);
  }
}

}  // namespace relay::tmux
