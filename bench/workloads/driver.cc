#include "workloads/driver.h"

#include <signal.h>
#include <sys/epoll.h>

#include <array>

namespace relay::bench {
namespace {

constexpr std::chrono::milliseconds kTimeout{20'000};

volatile sig_atomic_t interrupt_came = 0;

}  // namespace

void stop_on_interrupt() {
  struct sigaction action{};
  action.sa_handler = [](int) { interrupt_came = 1; };
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return interrupt_came != 0; }

Driver::Driver(UniqueFd poll, std::span<const std::unique_ptr<Endpoint>> endpoints)
    : poll_{std::move(poll)}, write_pending_(endpoints.size()) {
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
  const bool pending = socket.queued() > 0;
  if (pending == write_pending_[index]) return {};
  write_pending_[index] = pending;
  epoll_event event{.events = EPOLLIN, .data = {.u64 = index}};
  if (pending) event.events |= EPOLLOUT;
  ::epoll_ctl(poll_.get(), EPOLL_CTL_MOD, socket.fd(), &event);
  return {};
}

Result<void> Driver::read(std::size_t index, const OnRead& on_read) {
  const auto counts = RELAY_TRY(endpoints_[index]->read());
  if (counts.deliveries > 0 || counts.confirmations > 0) {
    last_progress_ = now();
    on_read(index, counts);
  }
  return write(index);
}

Result<bool> Driver::wait(const OnRead& on_read, std::chrono::milliseconds timeout) {
  if (!read_buffered_) {
    read_buffered_ = true;
    for (std::size_t i = 0; i < endpoints_.size(); ++i) RELAY_TRY(read(i, on_read));
    return true;
  }
  std::array<epoll_event, 256> ready{};
  const int count =
      ::epoll_wait(poll_.get(), ready.data(), static_cast<int>(ready.size()), static_cast<int>(timeout.count()));
  if (interrupted()) return fail("interrupted");
  if (count < 0) return fail_errno("cannot wait for sockets");
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const auto index = ready[i].data.u64;
    if (ready[i].events & ~static_cast<std::uint32_t>(EPOLLOUT)) {
      RELAY_TRY(endpoints_[index]->socket().read_some());
      RELAY_TRY(read(index, on_read));
    } else {
      RELAY_TRY(write(index));
    }
  }
  return count > 0;
}

Result<void> Driver::turn(const OnRead& on_read) {
  const bool moved = RELAY_TRY(wait(on_read, kTimeout));
  if (!moved || now() - last_progress_ > kTimeout)
    return fail("no delivery or confirmation for 20 s; a message was lost");
  return {};
}

Result<void> Driver::idle(std::chrono::milliseconds time) {
  const auto end = now() + time;
  while (now() < end)
    RELAY_TRY(wait([](std::size_t, const ReadCounts&) {}, std::chrono::ceil<std::chrono::milliseconds>(end - now())));
  return {};
}

}  // namespace relay::bench
