#include "measure.h"

#include <poll.h>

#include <array>
#include <chrono>

#include "base/format.h"

namespace relay::bench {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t kMaxQueuedBytes = 1 << 20;  // towards the socket, so that streaming stays a stream

double us_since(steady_clock::time_point start) {
  return std::chrono::duration<double, std::micro>(steady_clock::now() - start).count();
}

std::string send_frame(const Load& load, std::size_t number, const std::string& body) {
  return frame_of(relay::format(
      R"({{"v":1,"type":"SEND","id":"b-{}","ts":1,"to":"{}","payload":{{"kind":"message","body":"{}"}}}})", number,
      load.to, body));
}

bool is(std::string_view frame, std::string_view type) {
  return frame.substr(0, 64).contains(relay::format(R"("type":"{}")", type));
}

/// The text of the first member of that name; enough for frames that we and the daemon wrote.
std::string_view member(std::string_view frame, std::string_view name) {
  const auto key = relay::format(R"("{}":)", name);
  const auto at = frame.find(key);
  if (at == std::string_view::npos) return {};
  auto value = frame.substr(at + key.size());
  if (value.starts_with('"')) return value.substr(1, value.find('"', 1) - 1);
  return value.substr(0, value.find_first_of(",}"));
}

std::string ack_frame(std::string_view deliver) {
  return frame_of(relay::format(R"({{"v":1,"type":"ACK","id":"a","ts":1,"payload":{{"ack_id":"{}","seq":{}}}}})",
                                member(deliver, "id"), member(deliver, "seq")));
}

/// One thread, two peers: calls `refill` while there is room, `on_sender` and `on_receiver` for what comes.
template <class Refill, class OnSender, class OnReceiver, class Done>
Result<void> stream(Peer& sender, Peer& receiver, Refill refill, OnSender on_sender, OnReceiver on_receiver,
                    Done done) {
  while (!done()) {
    while (sender.queued() < kMaxQueuedBytes && refill()) {}
    std::array<pollfd, 2> wait{};
    for (std::size_t i = 0; i < 2; ++i) {
      const auto& peer = i == 0 ? sender : receiver;
      wait[i] = {.fd = peer.fd(), .events = POLLIN, .revents = 0};
      if (peer.queued() > 0) wait[i].events |= POLLOUT;
    }
    if (::poll(wait.data(), wait.size(), 30'000) <= 0) return fail("nothing moved for 30 s");
    std::string_view frame;
    if (wait[0].revents & POLLOUT) RELAY_TRY(sender.write_some());
    if (wait[1].revents & POLLOUT) RELAY_TRY(receiver.write_some());
    if (wait[0].revents & (POLLIN | POLLHUP)) {
      RELAY_TRY(sender.read_some());
      while (sender.take(frame)) on_sender(frame);
    }
    if (wait[1].revents & (POLLIN | POLLHUP)) {
      RELAY_TRY(receiver.read_some());
      while (receiver.take(frame)) on_receiver(frame);
    }
  }
  return {};
}

}  // namespace

Result<void> measure_forwarder(Peer& sender, Peer& receiver, const Load& load, Figures& figures) {
  const std::string body(load.body_bytes, 'x');
  for (std::size_t i = 0; i < load.sequential; ++i) {
    const auto frame = send_frame(load, i, body);
    const auto start = steady_clock::now();
    RELAY_TRY(sender.write_all(frame));
    RELAY_TRY(receiver.read_frame());
    figures.deliver_us.push_back(us_since(start));
  }
  std::size_t sent = 0, received = 0;
  const auto start = steady_clock::now();
  RELAY_TRY(stream(
      sender, receiver,
      [&] {
        if (sent == load.streaming) return false;
        sender.queue(send_frame(load, sent++, body));
        return true;
      },
      [](std::string_view) {}, [&](std::string_view) { ++received; }, [&] { return received == load.streaming; }));
  figures.per_second.push_back(static_cast<double>(load.streaming) / us_since(start) * 1e6);
  return {};
}

Result<void> measure_daemon(Peer& sender, Peer& receiver, const Load& load, Figures& figures) {
  static std::size_t number = 0;
  const std::string body(load.body_bytes, 'x');
  for (std::size_t i = 0; i < load.sequential; ++i) {
    const auto frame = send_frame(load, number++, body);
    const auto start = steady_clock::now();
    RELAY_TRY(sender.write_all(frame));
    auto deliver = RELAY_TRY(receiver.read_frame());
    while (!is(deliver, "DELIVER")) deliver = RELAY_TRY(receiver.read_frame());
    figures.deliver_us.push_back(us_since(start));
    auto ack = RELAY_TRY(sender.read_frame());
    while (!is(ack, "ACK")) {
      if (is(ack, "NACK") || is(ack, "ERROR")) return fail("the daemon refused: " + ack);
      ack = RELAY_TRY(sender.read_frame());
    }
    figures.durable_us.push_back(us_since(start));
    RELAY_TRY(receiver.write_all(ack_frame(deliver)));
  }
  std::size_t sent = 0, received = 0, answered = 0;
  std::string refused;
  const auto start = steady_clock::now();
  const auto moved = stream(
      sender, receiver,
      [&] {
        if (sent == load.streaming) return false;
        ++sent;
        sender.queue(send_frame(load, number++, body));
        return true;
      },
      [&](std::string_view frame) {
        if (is(frame, "ACK"))
          ++answered;
        else if (is(frame, "NACK") || is(frame, "ERROR"))
          refused = frame;
      },
      [&](std::string_view frame) {
        if (!is(frame, "DELIVER")) return;
        ++received;
        receiver.queue(ack_frame(frame));
      },
      [&] {
        return (received == load.streaming && answered == load.streaming && receiver.queued() == 0) || !refused.empty();
      });
  if (!moved)
    return fail(relay::format("{}: {}; {} sent, {} acknowledged, {} received", figures.title, moved.error().message(),
                              sent, answered, received));
  if (!refused.empty()) return fail("the daemon refused: " + refused);
  figures.per_second.push_back(static_cast<double>(load.streaming) / us_since(start) * 1e6);
  return {};
}

}  // namespace relay::bench
