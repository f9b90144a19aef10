#include "feed/readers.h"

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>

#include "base/format.h"

namespace relay::bench {

Readers::Readers(std::uint16_t port, std::string path, const ReaderPlan& plan)
    : port_{port}, path_{std::move(path)}, plan_{plan}, epoll_{::epoll_create1(EPOLL_CLOEXEC)}, buffer_(1 << 20, '\0') {
  const auto add = [&](std::size_t count, Kind kind) {
    for (std::size_t i = 0; i < count; ++i) {
      if (kind == Kind::Reconnecting) reconnecting_.push_back(readers_.size());
      if (kind == Kind::Slow) slow_.push_back(readers_.size());
      readers_.push_back({.kind = kind});
    }
  };
  add(plan.steady, Kind::Steady);
  add(plan.reconnecting, Kind::Reconnecting);
  add(plan.slow, Kind::Slow);
}

double Readers::now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Result<void> Readers::open(Reader& reader) {
  reader.fd = UniqueFd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  if (reader.kind == Kind::Slow) {
    const int small = 32'768;
    ::setsockopt(reader.fd.get(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port_);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(reader.fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    return fail_errno("connect");
  const auto last = reader.last_seen > 0 ? format("Last-Event-ID: {}\r\n", reader.last_seen) : std::string{};
  const auto request = format("GET {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n{}\r\n", path_, port_, last);
  if (::send(reader.fd.get(), request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size()))
    return fail_errno("send");
  reader.line.clear();
  reader.id = 0;
  reader.resume = false;
  std::exponential_distribution<double> stay{1.0 / plan_.stay_seconds};
  reader.leave_at = now() + stay(random_);
  if (reader.kind != Kind::Slow) watch(reader);
  return {};
}

void Readers::watch(Reader& reader) {
  epoll_event event{.events = EPOLLIN, .data = {.u64 = static_cast<std::uint64_t>(&reader - readers_.data())}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, reader.fd.get(), &event);
}

Result<void> Readers::connect_all() {
  for (auto& reader : readers_) RELAY_TRY(open(reader));
  return {};
}

void Readers::run(double seconds) {
  const auto end = now() + seconds;
  std::vector<epoll_event> ready(1'024);
  for (auto time = now(); time < end; time = now()) {
    const int count = ::epoll_wait(epoll_.get(), ready.data(), static_cast<int>(ready.size()), 10);
    for (int i = 0; i < count; ++i) read_some(readers_[ready[static_cast<std::size_t>(i)].data.u64], buffer_.size());
    for (const auto index : reconnecting_)
      if (readers_[index].leave_at < time) reconnect(readers_[index]);
    for (const auto index : slow_)
      if (auto& reader = readers_[index]; reader.read_at < time) {
        reader.read_at = time + 0.1;
        read_some(reader, plan_.slow_bytes / 10);
      }
  }
}

void Readers::read_some(Reader& reader, std::size_t max) {
  if (!reader.fd) return;
  const auto count = ::recv(reader.fd.get(), buffer_.data(), max, MSG_DONTWAIT);
  if (count > 0) return take(reader, {buffer_.data(), static_cast<std::size_t>(count)});
  if (count < 0 && errno == EAGAIN) return;
  if (!reader.resume) ++counts_.cut;
  reader.fd.reset();
}

void Readers::take(Reader& reader, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto end = bytes.find('\n');
    if (end == std::string_view::npos) {
      reader.line.append(bytes);
      return;
    }
    auto line = bytes.substr(0, end);
    if (!reader.line.empty()) line = reader.line.append(line);
    if (line.starts_with("id: "))
      std::from_chars(line.data() + 4, line.data() + line.size(), reader.id);
    else if (line == "event: relay.resume")
      reader.resume = true;
    else if (line.empty())
      end_event(reader);
    reader.line.clear();
    bytes.remove_prefix(end + 1);
    if (!reader.fd) return;
  }
}

void Readers::end_event(Reader& reader) {
  const auto id = std::exchange(reader.id, 0);
  if (id == 0) return;  // a comment or a retry line
  if (reader.resume) {
    ++counts_.resumed;
    return reconnect(reader);
  }
  if (reader.last_seen > 0 && id > reader.last_seen + 1) counts_.lost += id - reader.last_seen - 1;
  if (id <= reader.last_seen) {
    ++counts_.repeated;
    return;
  }
  reader.last_seen = id;
  newest_ = std::max(newest_, id);
  if (reader.kind != Kind::Slow) ++counts_.events;
}

void Readers::reconnect(Reader& reader) {
  if (reader.kind == Kind::Reconnecting) ++counts_.returns;
  if (!open(reader)) ++counts_.cut;
}

ReaderCounts Readers::counts() const {
  auto counts = counts_;
  for (const auto& reader : readers_)
    if (reader.kind == Kind::Steady)
      counts.behind = std::max(counts.behind, newest_ - std::min(newest_, reader.last_seen));
  return counts;
}

}  // namespace relay::bench
