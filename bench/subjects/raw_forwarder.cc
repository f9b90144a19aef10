/// The lower bound: a process that copies bytes from one socket to the sockets it is wired to. Two hops, no parsing.
///
/// Frames have one size per run, so it only counts bytes. One sender is served by blocking calls, which cost least;
/// several by epoll.
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>

#include "subjects/subject.h"

namespace relay::bench {
namespace {

struct Line {
  UniqueFd driver_end;
  UniqueFd server_end;
};

Result<Line> make_line() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return fail_errno("cannot make sockets");
  return Line{UniqueFd{ends[0]}, UniqueFd{ends[1]}};
}

struct Wiring {
  int from = -1;
  std::vector<int> to = {};
};

void copy_once(const Wiring& wiring) {
  static std::array<char, 256 * 1024> buffer;
  const auto got = ::read(wiring.from, buffer.data(), buffer.size());
  if (got <= 0) ::_exit(0);
  for (const int to : wiring.to)
    for (ssize_t done = 0; done < got;) {
      const auto wrote = ::write(to, buffer.data() + done, static_cast<std::size_t>(got - done));
      if (wrote <= 0) ::_exit(0);
      done += wrote;
    }
}

[[noreturn]] void forward(const std::vector<Wiring>& wirings) {
  if (wirings.size() == 1)
    while (true) copy_once(wirings.front());
  const int poll = ::epoll_create1(EPOLL_CLOEXEC);
  for (std::size_t i = 0; i < wirings.size(); ++i) {
    epoll_event event{.events = EPOLLIN, .data = {.u64 = i}};
    ::epoll_ctl(poll, EPOLL_CTL_ADD, wirings[i].from, &event);
  }
  std::array<epoll_event, 256> ready{};
  while (true) {
    const int count = ::epoll_wait(poll, ready.data(), static_cast<int>(ready.size()), -1);
    for (int i = 0; i < count; ++i) copy_once(wirings[ready[static_cast<std::size_t>(i)].data.u64]);
  }
}

class FloorEndpoint final : public Endpoint {
 public:
  FloorEndpoint(UniqueFd fd, std::size_t& frame_bytes) : socket_{std::move(fd)}, frame_bytes_{frame_bytes} {}

  void send(std::string_view, std::string_view body) override {
    frame_bytes_ = body.size();
    socket_.queue(body);
  }
  Result<ReadCounts> read() override {
    const auto frames = socket_.unread().size() / frame_bytes_;
    socket_.consume(frames * frame_bytes_);
    return ReadCounts{.deliveries = frames};
  }
  ByteSocket& socket() override { return socket_; }

 private:
  ByteSocket socket_;
  std::size_t& frame_bytes_;  // of the RunningServer, which outlives its endpoints
};

class RunningFloor final : public RunningServer {
 public:
  explicit RunningFloor(ServerProcess server) : server_{std::move(server)} {}

  /// Called once: the process is forked with its connections.
  Result<std::vector<std::unique_ptr<Endpoint>>> open(std::span<const Seat> seats) override {
    std::vector<Line> lines;
    for (std::size_t i = 0; i < seats.size(); ++i) lines.push_back(RELAY_TRY(make_line()));
    std::vector<Wiring> wirings;
    for (std::size_t i = 0; i < seats.size(); ++i) {
      if (seats[i].role != Role::Sender) continue;
      wirings.push_back({.from = lines[i].server_end.get()});
      for (std::size_t to = 0; to < seats.size(); ++to)
        if (seats[to].role != Role::Sender && (seats[i].sends_to == kEveryone || seats[i].sends_to == seats[to].name))
          wirings.back().to.push_back(lines[to].server_end.get());
    }
    RELAY_TRY(server_.start([&] {
      for (auto& line : lines) line.driver_end.reset();
      forward(wirings);
    }));
    std::vector<std::unique_ptr<Endpoint>> endpoints;
    for (auto& line : lines)
      endpoints.push_back(std::make_unique<FloorEndpoint>(std::move(line.driver_end), frame_bytes_));
    return endpoints;
  }

  [[nodiscard]] const ServerProcess& server() const override { return server_; }

 private:
  ServerProcess server_;
  std::size_t frame_bytes_ = 1;
};

class FloorSubject final : public Subject {
 public:
  using Subject::Subject;
  [[nodiscard]] Result<std::unique_ptr<RunningServer>> start() const override {
    return std::make_unique<RunningFloor>(RELAY_TRY(ServerProcess::create()));
  }
};

}  // namespace

void add_raw_forwarder(Subjects& subjects) {
  subjects.push_back(std::make_unique<FloorSubject>(
      Traits{.name = "floor", .title = "raw forwarder", .note = "copies bytes between sockets; the lower bound"}));
}

}  // namespace relay::bench
