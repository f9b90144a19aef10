/// ZeroMQ over ipc: a libzmq XSUB/XPUB proxy in its own process, so that there are two hops as with other subjects. The
/// endpoints implement ZMTP 3.0 without libzmq, as all endpoints implement their protocols.
#include "subjects/subject.h"

#ifdef RELAY_ZEROMQ
#include <zmq.h>
#endif

#include "base/format.h"

namespace relay::bench {
namespace {

constexpr std::string_view kEveryonesTopic = "everyone";
// The proxy drops beyond this and counts reads in steps of half of it: the default of 1000 does not hold a window of
// 512.
[[maybe_unused]] constexpr int kMaxPending = 4'096;
constexpr std::size_t kGreetingBytes = 64;
constexpr unsigned char kLong = 2, kCommand = 4;

/// Ends with a mark, because topics match by prefix.
std::string topic_of(std::string_view to) { return relay::format("{}|", to == kEveryone ? kEveryonesTopic : to); }

std::string frame(unsigned char flags, std::string_view body) {
  std::string bytes;
  const bool is_long = body.size() > 255;
  bytes += static_cast<char>(flags | (is_long ? kLong : 0));
  for (int shift = is_long ? 56 : 0; shift >= 0; shift -= 8) bytes += static_cast<char>(body.size() >> shift & 0xff);
  bytes += body;
  return bytes;
}

struct Frame {
  unsigned char flags = 0;
  std::string_view body;
};

bool take(ByteSocket& socket, Frame& taken) {
  const auto bytes = socket.unread();
  if (bytes.empty()) return false;
  const auto flags = static_cast<unsigned char>(bytes[0]);
  const std::size_t header = flags & kLong ? 9 : 2;
  if (bytes.size() < header) return false;
  std::size_t length = 0;
  for (std::size_t i = 1; i < header; ++i) length = length << 8 | static_cast<unsigned char>(bytes[i]);
  if (bytes.size() < header + length) return false;
  taken = {.flags = flags, .body = bytes.substr(header, length)};
  socket.consume(header + length);
  return true;
}

/// Sends the greeting and the socket type.
Result<ByteSocket> join(const std::string& path, std::string_view kind) {
  auto socket = RELAY_TRY(ByteSocket::connect_unix(path));
  std::string greeting(kGreetingBytes, '\0');
  greeting[0] = '\xff';
  greeting[9] = '\x7f';
  greeting[10] = 3;
  greeting.replace(12, 4, "NULL");
  const auto ready = relay::format("{}READY{}Socket-Type{}{}", '\x05', '\x0b',
                                   std::string{0, 0, 0, static_cast<char>(kind.size())}, kind);
  RELAY_TRY(socket.write_all(greeting + frame(kCommand, ready)));
  while (socket.unread().size() < kGreetingBytes) RELAY_TRY(socket.wait_and_read());
  socket.consume(kGreetingBytes);
  Frame response;
  while (!take(socket, response)) RELAY_TRY(socket.wait_and_read());
  if (!response.body.contains("READY")) return fail("ZeroMQ refused: " + std::string{response.body});
  return socket;
}

class ZeroMqEndpoint final : public Endpoint {
 public:
  explicit ZeroMqEndpoint(ByteSocket socket) : socket_{std::move(socket)} {}

  void send(std::string_view to, std::string_view body) override {
    socket_.queue(frame(0, topic_of(to) + std::string{body}));
  }

  /// Topic and body in one frame, because the high-water mark counts frames.
  Result<ReadCounts> read() override {
    ReadCounts counts;
    for (Frame received; take(socket_, received);)
      if ((received.flags & kCommand) == 0) ++counts.deliveries;
    return counts;
  }

  ByteSocket& socket() override { return socket_; }

 private:
  ByteSocket socket_;
};

class RunningZeroMq final : public RunningServer {
 public:
  explicit RunningZeroMq(ServerProcess server) : server_{std::move(server)} {}

  /// Subscriptions are not confirmed but forwarded to senders. So receivers connect first, and each sender waits until
  /// it has seen all subscriptions.
  Result<std::vector<std::unique_ptr<Endpoint>>> open(std::span<const Seat> seats) override {
    std::vector<std::unique_ptr<Endpoint>> endpoints(seats.size());
    for (std::size_t i = 0; i < seats.size(); ++i) {
      if (seats[i].role == Role::Sender) continue;
      auto socket = RELAY_TRY(join(server_.file("out.sock"), "SUB"));
      if (seats[i].role == Role::Audience) RELAY_TRY(socket.write_all(frame(0, '\1' + topic_of(kEveryone))));
      RELAY_TRY(socket.write_all(frame(0, '\1' + topic_of(seats[i].name))));
      endpoints[i] = std::make_unique<ZeroMqEndpoint>(std::move(socket));
      ++names_;
    }
    for (std::size_t i = 0; i < seats.size(); ++i) {
      if (seats[i].role != Role::Sender) continue;
      auto socket = RELAY_TRY(join(server_.file("in.sock"), "PUB"));
      Frame received;
      for (std::size_t subscribed = 0; subscribed < names_;)
        if (!take(socket, received))
          RELAY_TRY(socket.wait_and_read());
        else if (received.body.substr(1) != topic_of(kEveryone))
          ++subscribed;
      endpoints[i] = std::make_unique<ZeroMqEndpoint>(std::move(socket));
    }
    return endpoints;
  }

  [[nodiscard]] const ServerProcess& server() const override { return server_; }

 private:
  ServerProcess server_;
  std::size_t names_ = 0;
};

class ZeroMq final : public Subject {
 public:
  using Subject::Subject;

#ifdef RELAY_ZEROMQ
  [[nodiscard]] Result<std::unique_ptr<RunningServer>> start() const override {
    auto server = RELAY_TRY(ServerProcess::create());
    const auto in = server.file("in.sock"), out = server.file("out.sock");
    RELAY_TRY(server.start([&] {
      void* context = ::zmq_ctx_new();
      ::zmq_ctx_set(context, ZMQ_MAX_SOCKETS, 10'000);
      void* from = ::zmq_socket(context, ZMQ_XSUB);
      void* to = ::zmq_socket(context, ZMQ_XPUB);
      ::zmq_setsockopt(to, ZMQ_SNDHWM, &kMaxPending, sizeof(kMaxPending));
      if (::zmq_bind(from, ("ipc://" + in).c_str()) != 0 || ::zmq_bind(to, ("ipc://" + out).c_str()) != 0) return;
      ::zmq_proxy(from, to, nullptr);
    }));
    RELAY_TRY(server.until(
        [&] { return ByteSocket::connect_unix(in).has_value() && ByteSocket::connect_unix(out).has_value(); }));
    return std::make_unique<RunningZeroMq>(std::move(server));
  }
#else
  [[nodiscard]] std::optional<std::string> missing() const override { return "built without libzmq"; }
  [[nodiscard]] Result<std::unique_ptr<RunningServer>> start() const override { return fail("ZeroMQ is missing"); }
#endif
};

}  // namespace

void add_zeromq(Subjects& subjects) {
  subjects.push_back(std::make_unique<ZeroMq>(Traits{
      .name = "zeromq",
      .title = "ZeroMQ, ipc proxy",
      .note = "zmq_proxy between XSUB and XPUB; offline receivers miss messages; drops after 4096 pending messages "
              "(1000)"}));
}

}  // namespace relay::bench
