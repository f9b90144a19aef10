#include "workloads/driver.h"

#include <signal.h>
#include <sys/epoll.h>

#include <array>

namespace relay::bench {
namespace {

constexpr std::chrono::milliseconds kTimeout{20'000};

volatile sig_atomic_t interrupt_came = 0;

}  // namespace

void end_turns_on_interrupt() {
  struct sigaction action{};
  action.sa_handler = [](int) { interrupt_came = 1; };
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return interrupt_came != 0; }

Driver::Driver(UniqueFd poll, std::span<const std::unique_ptr<Endpoint>> endpoints)
    : poll_{std::move(poll)}, waits_to_write_(endpoints.size()) {
  for (const auto& endpoint : endpoints) endpoints_.push_back(endpoint.get());
}

Result<Driver> Driver::over(std::span<const std::unique_ptr<Endpoint>> endpoints) {
  UniqueFd poll{::epoll_create1(EPOLL_CLOEXEC)};
  if (!poll) return fail_errno("cannot wait for sockets");
  for (std::size_t i = 0; i < endpoints.size(); ++i) {
    epoll_event event{.events = EPOLLIN, .data = {.u64 = i}};
    if (::epoll_ctl(poll.get(), EPOLL_CTL_ADD, endpoints[i]->socket().fd(), &event) != 0)
      return fail_errno("cannot wait for a socket");
  }
  return Driver{std::move(poll), endpoints};
}

Result<void> Driver::flush(std::size_t index) {
  last_progress_ = now();
  return write(index);
}

Result<void> Driver::write(std::size_t index) {
  auto& socket = endpoints_[index]->socket();
  if (socket.queued() > 0) RELAY_TRY(socket.write_some());
  const bool waits = socket.queued() > 0;
  if (waits == waits_to_write_[index]) return {};
  waits_to_write_[index] = waits;
  epoll_event event{.events = EPOLLIN, .data = {.u64 = index}};
  if (waits) event.events |= EPOLLOUT;
  ::epoll_ctl(poll_.get(), EPOLL_CTL_MOD, socket.fd(), &event);
  return {};
}

Result<void> Driver::hear(std::size_t index, const OnHeard& on_heard) {
  const auto heard = RELAY_TRY(endpoints_[index]->hear());
  if (heard.deliveries > 0 || heard.confirmations > 0) {
    last_progress_ = now();
    on_heard(index, heard);
  }
  return write(index);
}

Result<bool> Driver::wait(const OnHeard& on_heard, std::chrono::milliseconds patience) {
  if (!heard_what_came_before_) {
    heard_what_came_before_ = true;
    for (std::size_t i = 0; i < endpoints_.size(); ++i) RELAY_TRY(hear(i, on_heard));
    return true;
  }
  std::array<epoll_event, 256> ready{};
  const int count =
      ::epoll_wait(poll_.get(), ready.data(), static_cast<int>(ready.size()), static_cast<int>(patience.count()));
  if (interrupted()) return fail("interrupted");
  if (count < 0) return fail_errno("cannot wait for sockets");
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const auto index = ready[i].data.u64;
    if (ready[i].events & ~static_cast<std::uint32_t>(EPOLLOUT)) {
      RELAY_TRY(endpoints_[index]->socket().read_some());
      RELAY_TRY(hear(index, on_heard));
    } else {
      RELAY_TRY(write(index));
    }
  }
  return count > 0;
}

Result<void> Driver::turn(const OnHeard& on_heard) {
  const bool moved = RELAY_TRY(wait(on_heard, kTimeout));
  if (!moved || now() - last_progress_ > kTimeout) return fail("nothing was heard for 20 s: something was lost");
  return {};
}

Result<void> Driver::idle(std::chrono::milliseconds time) {
  const auto end = now() + time;
  while (now() < end)
    RELAY_TRY(wait([](std::size_t, const Heard&) {}, std::chrono::ceil<std::chrono::milliseconds>(end - now())));
  return {};
}

}  // namespace relay::bench
