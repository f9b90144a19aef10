/// Redis on its Unix socket: pub/sub, which keeps nothing, and streams with consumer groups on an append-only file.
#include "base/format.h"
#include "subjects/resp.h"
#include "subjects/subject.h"

namespace relay::bench {
namespace {

constexpr std::string_view kEveryonesKey = "everyone";
constexpr std::string_view kEntriesPerRead = "512";

std::string_view key_of(std::string_view to) { return to == kEveryone ? kEveryonesKey : to; }

class PubSubEndpoint final : public Endpoint {
 public:
  explicit PubSubEndpoint(ByteSocket socket) : socket_{std::move(socket)} {}

  void send(std::string_view to, std::string_view body) override {
    socket_.queue(resp_command({"PUBLISH", key_of(to), body}));
  }

  /// To a sender: how many it reached, as a number. To a receiver: [message, channel, body].
  Result<Heard> hear() override {
    Heard heard;
    for (RespReader reader{socket_.unread()};; socket_.consume(reader.taken())) {
      reader = RespReader{socket_.unread()};
      std::size_t parts = 0;
      std::string_view ignored;
      if (reader.number(ignored)) continue;
      if (!reader.array(parts)) break;
      bool whole = true;
      for (std::size_t i = 0; i < parts && whole; ++i) whole = reader.bulk(ignored);
      if (!whole) break;
      ++heard.deliveries;
    }
    return heard;
  }

  ByteSocket& socket() override { return socket_; }

 private:
  ByteSocket socket_;
};

class StreamSender final : public Endpoint {
 public:
  explicit StreamSender(ByteSocket socket) : socket_{std::move(socket)} {}

  void send(std::string_view to, std::string_view body) override {
    socket_.queue(resp_command({"XADD", key_of(to), "*", "body", body}));
  }

  /// The id of each entry, once it is in the stream and as durable as `appendfsync` says.
  Result<Heard> hear() override {
    Heard heard;
    for (std::string_view id;; ++heard.confirmations) {
      RespReader reader{socket_.unread()};
      if (!reader.bulk(id)) {
        if (socket_.unread().starts_with('-')) return fail("Redis refused: " + std::string{socket_.unread()});
        return heard;
      }
      socket_.consume(reader.taken());
    }
  }

  ByteSocket& socket() override { return socket_; }

 private:
  ByteSocket socket_;
};

/// Reads its group's entries as they come, acknowledges each.
class StreamReceiver final : public Endpoint {
 public:
  StreamReceiver(ByteSocket socket, std::string key, std::string group)
      : socket_{std::move(socket)}, key_{std::move(key)}, group_{std::move(group)} {
    ask_for_more();
  }

  void send(std::string_view, std::string_view) override {}

  Result<Heard> hear() override {
    Heard heard;
    while (true) {
      RespReader reader{socket_.unread()};
      std::string_view ignored;
      std::size_t streams = 0, parts = 0, entries = 0;
      if (reader.number(ignored)) {  // the answer to an XACK
        socket_.consume(reader.taken());
        continue;
      }
      if (socket_.unread().starts_with('-')) return fail("Redis refused: " + std::string{socket_.unread()});
      if (!reader.array(streams) || !reader.array(parts) || !reader.bulk(ignored) || !reader.array(entries))
        return heard;
      std::vector<std::string_view> acknowledgement{"XACK", key_, group_};
      for (std::size_t i = 0; i < entries; ++i) {
        std::string_view id, field, body;
        if (!reader.array(parts) || !reader.bulk(id) || !reader.array(parts) || !reader.bulk(field) ||
            !reader.bulk(body))
          return heard;
        acknowledgement.push_back(id);
      }
      heard.deliveries += entries;
      socket_.queue(resp_command(acknowledgement));
      ask_for_more();
      socket_.consume(reader.taken());
    }
  }

  ByteSocket& socket() override { return socket_; }

 private:
  void ask_for_more() {
    socket_.queue(resp_command(
        {"XREADGROUP", "GROUP", group_, "bench", "COUNT", kEntriesPerRead, "BLOCK", "0", "STREAMS", key_, ">"}));
  }

  ByteSocket socket_;
  std::string key_, group_;
};

enum class Manner { PubSub, Streams };

class RunningRedis final : public Running {
 public:
  RunningRedis(ServerProcess server, Manner manner) : server_{std::move(server)}, manner_{manner} {}

  Result<std::vector<std::unique_ptr<Endpoint>>> open(std::span<const Seat> seats) override {
    std::vector<std::unique_ptr<Endpoint>> endpoints;
    for (const auto& seat : seats) {
      auto socket = RELAY_TRY(ByteSocket::connect_unix(server_.file("r.sock")));
      const std::string key{seat.role == Role::Audience ? kEveryonesKey : std::string_view{seat.name}};
      if (manner_ == Manner::PubSub) {
        if (seat.role != Role::Sender) RELAY_TRY(ask(socket, {"SUBSCRIBE", key}, ":1\r\n"));
        endpoints.push_back(std::make_unique<PubSubEndpoint>(std::move(socket)));
      } else if (seat.role == Role::Sender) {
        endpoints.push_back(std::make_unique<StreamSender>(std::move(socket)));
      } else {
        // A group that is there already is the receiver's own from before.
        RELAY_TRY(ask(socket, {"XGROUP", "CREATE", key, seat.name, "0", "MKSTREAM"}, "\r\n"));
        endpoints.push_back(std::make_unique<StreamReceiver>(std::move(socket), key, seat.name));
        RELAY_TRY(endpoints.back()->socket().write_some());
      }
    }
    return endpoints;
  }

  [[nodiscard]] const ServerProcess& server() const override { return server_; }

 private:
  static Result<void> ask(ByteSocket& socket, const std::vector<std::string_view>& words, std::string_view end) {
    RELAY_TRY(socket.write_all(resp_command(words)));
    while (!socket.unread().ends_with(end)) RELAY_TRY(socket.wait_and_read());
    socket.consume(socket.unread().size());
    return {};
  }

  ServerProcess server_;
  Manner manner_;
};

class Redis final : public Subject {
 public:
  Redis(Traits traits, Manner manner, std::vector<std::string> settings)
      : Subject{std::move(traits)}, manner_{manner}, settings_{std::move(settings)} {}

  [[nodiscard]] std::optional<std::string> missing() const override {
    if (find_program("redis-server")) return std::nullopt;
    return "redis-server is not installed";
  }

  [[nodiscard]] Result<std::unique_ptr<Running>> start() const override {
    auto server = RELAY_TRY(ServerProcess::in_new_place());
    const auto socket = server.file("r.sock");
    std::vector<std::string> words{find_program("redis-server").value_or(""),
                                   "--port",
                                   "0",
                                   "--unixsocket",
                                   socket,
                                   "--unixsocketperm",
                                   "600",
                                   "--dir",
                                   server.place()};
    words.insert(words.end(), settings_.begin(), settings_.end());
    RELAY_TRY(server.start(words));
    RELAY_TRY(server.until([&] { return ByteSocket::connect_unix(socket).has_value(); }));
    return std::make_unique<RunningRedis>(std::move(server), manner_);
  }

 private:
  Manner manner_;
  std::vector<std::string> settings_;
};

}  // namespace

void add_redis(Subjects& subjects) {
  const auto add = [&](Traits traits, Manner manner, std::vector<std::string> settings) {
    subjects.push_back(std::make_unique<Redis>(std::move(traits), manner, std::move(settings)));
  };
  add({.name = "redis-pubsub", .title = "Redis pub/sub", .note = "Unix socket; who is away misses it"}, Manner::PubSub,
      {});
  add({.name = "redis-everysec",
       .title = "Redis streams, everysec",
       .promise = Promise::Process,
       .keeps_mail = true,
       .note = "Unix socket, groups with XACK; appendfsync everysec: written before the answer, synced once a second"},
      Manner::Streams, {"--appendonly", "yes", "--appendfsync", "everysec"});
  add({.name = "redis-always",
       .title = "Redis streams, always",
       .promise = Promise::Power,
       .keeps_mail = true,
       .note = "the same; appendfsync always: one sync for all commands of a turn, before their answers"},
      Manner::Streams, {"--appendonly", "yes", "--appendfsync", "always"});
}

}  // namespace relay::bench
