#include "pty/forwarded_signals.h"

#include <sys/signalfd.h>

#include <algorithm>
#include <csignal>

#include "net/asio_loop.h"
#include "net/readable_watch.h"
#include "pty/inherited.h"

namespace relay::pty {
namespace {

constexpr int kForwarded[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

}  // namespace

Result<std::unique_ptr<ForwardedSignals>> ForwardedSignals::open() {
  sigset_t wanted;
  ::sigemptyset(&wanted);
  const auto& ignored = signals_ignored_at_start();
  for (const int number : kForwarded)
    if (std::ranges::find(ignored, number) == ignored.end()) ::sigaddset(&wanted, number);
  if (::pthread_sigmask(SIG_BLOCK, &wanted, nullptr) != 0) return fail_errno("cannot block signals");
  UniqueFd signals{::signalfd(-1, &wanted, SFD_NONBLOCK | SFD_CLOEXEC)};
  if (!signals) return fail_errno("cannot watch signals");
  return std::unique_ptr<ForwardedSignals>{new ForwardedSignals{std::move(signals)}};
}

ForwardedSignals::ForwardedSignals(UniqueFd signals) : signals_{std::move(signals)} {}
ForwardedSignals::~ForwardedSignals() = default;

void ForwardedSignals::to(net::AsioLoop& loop, pid_t child) {
  child_ = child;
  watch_ = std::make_unique<net::ReadableWatch>(loop, signals_.get(), [this] { forward(); });
}

void ForwardedSignals::stop() {
  child_ = -1;
  watch_.reset();
}

void ForwardedSignals::forward() {
  signalfd_siginfo signal{};
  while (::read(signals_.get(), &signal, sizeof signal) == sizeof signal)
    if (signal.ssi_code != SI_KERNEL && child_ > 0) ::kill(child_, static_cast<int>(signal.ssi_signo));
}

}  // namespace relay::pty
