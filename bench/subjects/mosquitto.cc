/// Mosquitto on its Unix socket: MQTT 3.1.1, QoS 1, persistent sessions.
#include <pwd.h>
#include <unistd.h>

#include <fstream>

#include "subjects/subject.h"

namespace relay::bench {
namespace {

constexpr std::string_view kEveryonesTopic = "everyone";

// Packet types with the flags that the protocol requires.
constexpr unsigned char kConnect = 0x10, kConnected = 0x20, kPublish = 0x30, kPublished = 0x40, kSubscribe = 0x82,
                        kSubscribed = 0x90;
constexpr unsigned char kQosOne = 0x02, kKindMask = 0xf0;
constexpr std::size_t kMaxLengthBytes = 4;

std::string two_bytes(std::size_t value) {
  return {static_cast<char>(value >> 8 & 0xff), static_cast<char>(value & 0xff)};
}

std::string text(std::string_view value) { return two_bytes(value.size()) + std::string{value}; }

std::string packet(unsigned char kind, std::string_view content, std::string_view body = {}) {
  std::string bytes(1, static_cast<char>(kind));
  auto length = content.size() + body.size();
  do {
    const auto digit = length & 0x7f;
    length >>= 7;
    bytes += static_cast<char>(digit | (length > 0 ? 0x80U : 0U));
  } while (length > 0);
  bytes += content;
  bytes += body;
  return bytes;
}

struct Packet {
  unsigned char kind = 0;
  std::string_view content;
};

bool take(ByteSocket& socket, Packet& taken) {
  const auto bytes = socket.unread();
  std::size_t length = 0, header = 1;
  for (bool more = true; more; ++header) {
    if (header >= bytes.size() || header > kMaxLengthBytes) return false;
    const auto digit = static_cast<unsigned char>(bytes[header]);
    length |= static_cast<std::size_t>(digit & 0x7f) << (7 * (header - 1));
    more = (digit & 0x80) != 0;
  }
  if (bytes.size() < header + length) return false;
  taken = {.kind = static_cast<unsigned char>(bytes[0]), .content = bytes.substr(header, length)};
  socket.consume(header + length);
  return true;
}

class MqttEndpoint final : public Endpoint {
 public:
  explicit MqttEndpoint(ByteSocket socket) : socket_{std::move(socket)} {}

  void send(std::string_view to, std::string_view body) override {
    number_ = number_ % 65'535 + 1;
    const auto topic = text(to == kEveryone ? kEveryonesTopic : to);
    socket_.queue(packet(kPublish | kQosOne, topic + two_bytes(number_), body));
  }

  Result<ReadCounts> read() override {
    ReadCounts counts;
    for (Packet packet_in; take(socket_, packet_in);) {
      if ((packet_in.kind & kKindMask) == kPublished) ++counts.confirmations;
      if ((packet_in.kind & kKindMask) != kPublish) continue;
      ++counts.deliveries;
      const auto topic_bytes = static_cast<std::size_t>(static_cast<unsigned char>(packet_in.content[0]) << 8 |
                                                        static_cast<unsigned char>(packet_in.content[1]));
      socket_.queue(packet(kPublished, packet_in.content.substr(2 + topic_bytes, 2)));
    }
    return counts;
  }

  ByteSocket& socket() override { return socket_; }

 private:
  ByteSocket socket_;
  std::size_t number_ = 0;
};

class RunningMosquitto final : public RunningServer {
 public:
  explicit RunningMosquitto(ServerProcess server) : server_{std::move(server)} {}

  Result<std::vector<std::unique_ptr<Endpoint>>> open(std::span<const Seat> seats) override {
    std::vector<std::unique_ptr<Endpoint>> endpoints;
    for (const auto& seat : seats) {
      auto socket = RELAY_TRY(ByteSocket::connect_unix(server_.file("r.sock")));
      const std::string keep_session(1, '\0'), no_keep_alive = two_bytes(0), version(1, '\4');
      const auto connack = RELAY_TRY(
          request(socket, packet(kConnect, text("MQTT") + version + keep_session + no_keep_alive + text(seat.name)),
                  kConnected));
      const bool has_session = connack[0] != 0;  // with its subscription and stored messages
      const auto topic = seat.role == Role::Audience ? kEveryonesTopic : std::string_view{seat.name};
      if (seat.role != Role::Sender && !has_session)
        RELAY_TRY(request(socket, packet(kSubscribe, two_bytes(1) + text(topic) + '\1'), kSubscribed));
      endpoints.push_back(std::make_unique<MqttEndpoint>(std::move(socket)));
    }
    return endpoints;
  }

  [[nodiscard]] const ServerProcess& server() const override { return server_; }

 private:
  static Result<std::string> request(ByteSocket& socket, const std::string& bytes, unsigned char response) {
    RELAY_TRY(socket.write_all(bytes));
    Packet packet_in;
    while (packet_in.kind != response)
      if (!take(socket, packet_in)) RELAY_TRY(socket.wait_and_read());
    return std::string{packet_in.content};
  }

  ServerProcess server_;
};

class Mosquitto final : public Subject {
 public:
  using Subject::Subject;

  [[nodiscard]] std::optional<std::string> missing() const override {
    if (find_program("mosquitto")) return std::nullopt;
    return "mosquitto is not installed";
  }

  [[nodiscard]] Result<std::unique_ptr<RunningServer>> start() const override {
    auto server = RELAY_TRY(ServerProcess::create());
    const auto* user = ::getpwuid(::geteuid());
    std::ofstream{server.file("settings")} << "listener 0 " << server.file("r.sock") << "\n"
                                           << "allow_anonymous true\n"
                                           << "user " << (user ? user->pw_name : "root") << "\n"
                                           << "persistence true\npersistence_location " << server.directory() << "/\n"
                                           << "max_queued_messages 0\nmax_inflight_messages 4096\n";
    RELAY_TRY(server.start({find_program("mosquitto").value_or(""), "-c", server.file("settings")}));
    RELAY_TRY(server.until([&] { return ByteSocket::connect_unix(server.file("r.sock")).has_value(); }));
    return std::make_unique<RunningMosquitto>(std::move(server));
  }
};

}  // namespace

void add_mosquitto(Subjects& subjects) {
  subjects.push_back(std::make_unique<Mosquitto>(Traits{
      .name = "mosquitto",
      .title = "Mosquitto, QoS 1",
      .guarantee = AckGuarantee::Memory,
      .keeps_messages = true,
      .note = "Unix socket; saved to its file every 30 minutes and at the end; queue without limit (it drops after "
              "1000) and 4096 in flight (20)"}));
}

}  // namespace relay::bench
