#include "integration/crowd.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>

#include "base/format.h"
#include "integration/raw_client.h"
#include "net/unix_address.h"
#include "protocol/send.h"

namespace relay::integration {

using Clock = std::chrono::steady_clock;
using protocol::MessageType;

Crowd::Crowd(const std::string& socket, std::size_t count) : epoll_{::epoll_create1(EPOLL_CLOEXEC)} {
  members_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    auto fd = net::connect_now(socket);
    for (int attempt = 0; attempt < 1'000 && fd && !*fd; ++attempt) {  // the listener's queue may be full for a moment
      run(std::chrono::milliseconds{10}, [] { return false; });
      fd = net::connect_now(socket);
    }
    if (!fd || !*fd) {
      set_error(fd ? "the listener's queue stays full" : fd.error().message());
      return;
    }
    Member& member = members_.emplace_back();
    member.name = format("Agent{}", i);
    member.fd = *std::move(fd);
    epoll_event event{.events = EPOLLIN | EPOLLOUT | EPOLLET, .data = {.u64 = i}};
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, members_.back().fd.get(), &event);
  }
}

template <class Done>
bool Crowd::run(std::chrono::milliseconds timeout, Done done) {
  const auto deadline = Clock::now() + timeout;
  std::array<epoll_event, 256> events{};
  while (!done()) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    const int count =
        ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), static_cast<int>(left));
    for (int i = 0; i < count; ++i) {
      Member& member = members_[events[static_cast<std::size_t>(i)].data.u64];
      read(member);
      flush(member);
    }
  }
  return true;
}

void Crowd::read(Member& member) {
  std::array<char, 65536> buffer{};
  for (;;) {
    const ssize_t count = ::recv(member.fd.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count == 0) return set_error(member.name + " was disconnected");
    if (count < 0) return;
    member.reader.push({buffer.data(), static_cast<std::size_t>(count)});
    for (;;) {
      const auto body = member.reader.next();
      if (!body) return set_error(body.error().message());
      if (!*body) break;
      const auto envelope = protocol::parse_envelope(**body);
      if (!envelope) return set_error(envelope.error().message());
      handle(member, *envelope);
    }
  }
}

void Crowd::handle(Member& member, const protocol::Envelope& envelope) {
  switch (envelope.type) {
    case MessageType::Welcome: ++welcomed_; return;
    case MessageType::Ack: ++acknowledged_; return;
    case MessageType::Ping: return queue_frame(member, integration::envelope("PONG", "pong", envelope.payload));
    case MessageType::Error:
    case MessageType::Nack: return set_error(member.name + ": " + std::string{envelope.payload});
    case MessageType::Deliver: {
      const auto delivery = protocol::parse_delivery(envelope.delivery);
      if (!delivery) return set_error(delivery.error().message());
      std::uint64_t& last = member.last_seq[std::string{envelope.from}];
      if (delivery->seq != last + 1) ++out_of_order_;
      last = delivery->seq;
      ++delivered_;
      return queue_frame(member, integration::envelope("ACK", "ack", protocol::write_ack(envelope.id, delivery->seq)));
    }
    default: return;  // AGENT_READY and other notifications
  }
}

void Crowd::queue_frame(Member& member, std::string_view body) {
  protocol::append_frame(member.out, protocol::HeaderStyle::Four, body);
}

void Crowd::flush(Member& member) {
  if (member.out.empty()) return;
  const ssize_t count = ::send(member.fd.get(), member.out.data(), member.out.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (count > 0) member.out.erase(0, static_cast<std::size_t>(count));
}

void Crowd::set_error(std::string error) {
  if (error_.empty()) error_ = std::move(error);
}

bool Crowd::connect(std::chrono::seconds timeout) {
  for (Member& member : members_) {
    queue_frame(member, integration::envelope("HELLO", "hello",
                                              format(R"({{"agent":"{}","capabilities":{{"ack":true,"resume":true,)"
                                                     R"("max_inflight":256,"send_ack":true,"outbox":"crowd"}}}})",
                                                     member.name)));
    flush(member);
  }
  return run(timeout, [&] { return welcomed_ == members_.size() || !error_.empty(); }) && error_.empty();
}

bool Crowd::exchange(std::size_t each, std::chrono::seconds timeout) {
  const std::size_t count = members_.size();
  const std::uint64_t target = delivered_ + each * count;
  const std::uint64_t acknowledged_target = acknowledged_ + each * count;
  for (std::size_t i = 0; i < count; ++i) {
    Member& member = members_[i];
    for (std::size_t k = 0; k < each; ++k) {
      const std::uint64_t n = ++member.sent;
      const std::size_t to = (i + 1 + (k * 7) % 16) % count;
      queue_frame(member,
                  integration::envelope("SEND", format("crowd-{}", n),
                                        format(R"({{"kind":"message","body":"number {} of {}"}})", n, member.name),
                                        format(R"("to":"{}",)", members_[to].name)));
    }
    flush(member);
  }
  return run(timeout,
             [&] { return (delivered_ >= target && acknowledged_ >= acknowledged_target) || !error_.empty(); }) &&
         error_.empty();
}

void Crowd::answer_pings_for(std::chrono::milliseconds duration) {
  run(duration, [] { return false; });
}

}  // namespace relay::integration
