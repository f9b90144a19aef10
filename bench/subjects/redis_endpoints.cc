#include "subjects/redis_endpoints.h"

#include "subjects/resp.h"

namespace relay::bench {
namespace {

constexpr std::string_view kEntriesPerRead = "512";

std::string_view key_of(std::string_view to) { return to == kEveryone ? kEveryonesKey : to; }

class PubSubEndpoint final : public Endpoint {
 public:
  explicit PubSubEndpoint(ByteSocket socket) : socket_{std::move(socket)} {}

  void send(std::string_view to, std::string_view body) override {
    socket_.queue(resp_command({"PUBLISH", key_of(to), body}));
  }

  /// A sender gets the number of receivers; a receiver gets [message, channel, body].
  Result<ReadCounts> read() override {
    ReadCounts counts;
    for (RespReader reader{socket_.unread()};; socket_.consume(reader.taken())) {
      reader = RespReader{socket_.unread()};
      std::size_t parts = 0;
      std::string_view ignored;
      if (reader.number(ignored)) continue;
      if (!reader.array(parts)) break;
      bool whole = true;
      for (std::size_t i = 0; i < parts && whole; ++i) whole = reader.bulk(ignored);
      if (!whole) break;
      ++counts.deliveries;
    }
    return counts;
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

  /// Gets the id of each entry when it is in the stream and as durable as `appendfsync` requires.
  Result<ReadCounts> read() override {
    ReadCounts counts;
    for (std::string_view id;; ++counts.confirmations) {
      RespReader reader{socket_.unread()};
      if (!reader.bulk(id)) {
        if (socket_.unread().starts_with('-')) return fail("Redis refused: " + std::string{socket_.unread()});
        return counts;
      }
      socket_.consume(reader.taken());
    }
  }

  ByteSocket& socket() override { return socket_; }

 private:
  ByteSocket socket_;
};

/// Reads the entries of its group and acknowledges each.
class StreamReceiver final : public Endpoint {
 public:
  StreamReceiver(ByteSocket socket, std::string key, std::string group)
      : socket_{std::move(socket)}, key_{std::move(key)}, group_{std::move(group)} {
    ask_for_more();
  }

  void send(std::string_view, std::string_view) override {}

  Result<ReadCounts> read() override {
    ReadCounts counts;
    while (true) {
      RespReader reader{socket_.unread()};
      std::string_view ignored;
      std::size_t streams = 0, parts = 0, entries = 0;
      if (reader.number(ignored)) {  // the reply to an XACK
        socket_.consume(reader.taken());
        continue;
      }
      if (socket_.unread().starts_with('-')) return fail("Redis refused: " + std::string{socket_.unread()});
      if (!reader.array(streams) || !reader.array(parts) || !reader.bulk(ignored) || !reader.array(entries))
        return counts;
      std::vector<std::string_view> acknowledgement{"XACK", key_, group_};
      for (std::size_t i = 0; i < entries; ++i) {
        std::string_view id, field, body;
        if (!reader.array(parts) || !reader.bulk(id) || !reader.array(parts) || !reader.bulk(field) ||
            !reader.bulk(body))
          return counts;
        acknowledgement.push_back(id);
      }
      counts.deliveries += entries;
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

}  // namespace

std::unique_ptr<Endpoint> redis_pubsub_endpoint(ByteSocket socket) {
  return std::make_unique<PubSubEndpoint>(std::move(socket));
}

std::unique_ptr<Endpoint> redis_stream_sender(ByteSocket socket) {
  return std::make_unique<StreamSender>(std::move(socket));
}

std::unique_ptr<Endpoint> redis_stream_receiver(ByteSocket socket, std::string key, std::string group) {
  return std::make_unique<StreamReceiver>(std::move(socket), std::move(key), std::move(group));
}

}  // namespace relay::bench
