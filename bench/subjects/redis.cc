/// Redis on its Unix socket: pub/sub, which stores nothing, and streams with consumer groups on an append-only file.
#include "subjects/redis_endpoints.h"
#include "subjects/resp.h"
#include "subjects/subject.h"

namespace relay::bench {
namespace {

enum class DeliveryMode { PubSub, Streams };

class RunningRedis final : public RunningServer {
 public:
  RunningRedis(ServerProcess server, DeliveryMode mode) : server_{std::move(server)}, mode_{mode} {}

  Result<std::vector<std::unique_ptr<Endpoint>>> open(std::span<const Seat> seats) override {
    std::vector<std::unique_ptr<Endpoint>> endpoints;
    for (const auto& seat : seats) {
      auto socket = RELAY_TRY(ByteSocket::connect_unix(server_.file("r.sock")));
      const std::string key{seat.role == Role::Audience ? kEveryonesKey : std::string_view{seat.name}};
      if (mode_ == DeliveryMode::PubSub) {
        if (seat.role != Role::Sender) RELAY_TRY(request(socket, {"SUBSCRIBE", key}, ":1\r\n"));
        endpoints.push_back(redis_pubsub_endpoint(std::move(socket)));
      } else if (seat.role == Role::Sender) {
        endpoints.push_back(redis_stream_sender(std::move(socket)));
      } else {
        // An existing group belongs to the receiver, from an earlier connection.
        RELAY_TRY(request(socket, {"XGROUP", "CREATE", key, seat.name, "0", "MKSTREAM"}, "\r\n"));
        endpoints.push_back(redis_stream_receiver(std::move(socket), key, seat.name));
        RELAY_TRY(endpoints.back()->socket().write_some());
      }
    }
    return endpoints;
  }

  [[nodiscard]] const ServerProcess& server() const override { return server_; }

 private:
  static Result<void> request(ByteSocket& socket, const std::vector<std::string_view>& args, std::string_view end) {
    RELAY_TRY(socket.write_all(resp_command(args)));
    while (!socket.unread().ends_with(end)) RELAY_TRY(socket.wait_and_read());
    socket.consume(socket.unread().size());
    return {};
  }

  ServerProcess server_;
  DeliveryMode mode_;
};

class Redis final : public Subject {
 public:
  Redis(Traits traits, DeliveryMode mode, std::vector<std::string> settings)
      : Subject{std::move(traits)}, mode_{mode}, settings_{std::move(settings)} {}

  [[nodiscard]] std::optional<std::string> missing() const override {
    if (find_program("redis-server")) return std::nullopt;
    return "redis-server is not installed";
  }

  [[nodiscard]] Result<std::unique_ptr<RunningServer>> start() const override {
    auto server = RELAY_TRY(ServerProcess::create());
    const auto socket = server.file("r.sock");
    std::vector<std::string> args{find_program("redis-server").value_or(""),
                                  "--port",
                                  "0",
                                  "--unixsocket",
                                  socket,
                                  "--unixsocketperm",
                                  "600",
                                  "--dir",
                                  server.directory()};
    args.insert(args.end(), settings_.begin(), settings_.end());
    RELAY_TRY(server.start(args));
    RELAY_TRY(server.until([&] { return ByteSocket::connect_unix(socket).has_value(); }));
    return std::make_unique<RunningRedis>(std::move(server), mode_);
  }

 private:
  DeliveryMode mode_;
  std::vector<std::string> settings_;
};

}  // namespace

void add_redis(Subjects& subjects) {
  const auto add = [&](Traits traits, DeliveryMode mode, std::vector<std::string> settings) {
    subjects.push_back(std::make_unique<Redis>(std::move(traits), mode, std::move(settings)));
  };
  add({.name = "redis-pubsub", .title = "Redis pub/sub", .note = "Unix socket; offline receivers miss messages"},
      DeliveryMode::PubSub, {});
  add({.name = "redis-everysec",
       .title = "Redis streams, everysec",
       .guarantee = AckGuarantee::Process,
       .keeps_messages = true,
       .note =
           "Unix socket, groups with XACK; appendfsync everysec: written before the response, synced once a second"},
      DeliveryMode::Streams, {"--appendonly", "yes", "--appendfsync", "everysec"});
  add({.name = "redis-always",
       .title = "Redis streams, always",
       .guarantee = AckGuarantee::Power,
       .keeps_messages = true,
       .note = "the same; appendfsync always: one sync for all commands of a turn, before their responses"},
      DeliveryMode::Streams, {"--appendonly", "yes", "--appendfsync", "always"});
}

}  // namespace relay::bench
