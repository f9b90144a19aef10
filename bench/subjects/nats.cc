/// NATS on loopback (it has no Unix socket): core, which stores nothing, and JetStream on files.
#include <charconv>
#include <set>

#include "base/format.h"
#include "subjects/subject.h"

namespace relay::bench {
namespace {

constexpr std::string_view kEveryonesSubject = "everyone";
constexpr std::string_view kStream = "bench";  // the JetStream stream of all subjects below `m.`

std::string subject_of(std::string_view to) { return relay::format("m.{}", to == kEveryone ? kEveryonesSubject : to); }

std::string publish(std::string_view subject, std::string_view reply, std::string_view body) {
  return relay::format("PUB {} {} {}\r\n{}\r\n", subject, reply, body.size(), body);
}

/// A message from the server: `MSG subject sid [reply] bytes`, a line end, the body, a line end.
struct Message {
  std::string_view reply, body;
};

enum class Taken { Nothing, Other, Message };

Taken take(ByteSocket& socket, Message& message) {
  const auto bytes = socket.unread();
  const auto end = bytes.find("\r\n");
  if (end == std::string_view::npos) return Taken::Nothing;
  auto line = bytes.substr(0, end);
  if (line.starts_with("PING")) socket.queue("PONG\r\n");
  if (!line.starts_with("MSG ")) {
    socket.consume(end + 2);
    return Taken::Other;
  }
  std::vector<std::string_view> fields;
  while (!line.empty()) {
    const auto blank = line.find(' ');
    fields.push_back(line.substr(0, blank));
    line.remove_prefix(blank == std::string_view::npos ? line.size() : blank + 1);
  }
  std::size_t size = 0;
  std::from_chars(fields.back().data(), fields.back().data() + fields.back().size(), size);
  if (bytes.size() < end + 2 + size + 2) return Taken::Nothing;
  message = {.reply = fields.size() == 5 ? fields[3] : std::string_view{}, .body = bytes.substr(end + 2, size)};
  socket.consume(end + 2 + size + 2);
  return Taken::Message;
}

/// Connects and waits until the server has processed the commands. Received messages stay in the buffer.
Result<ByteSocket> join(std::uint16_t port, std::string_view commands) {
  auto socket = RELAY_TRY(ByteSocket::connect_loopback(port));
  RELAY_TRY(
      socket.write_all(relay::format("CONNECT {{\"verbose\":false,\"pedantic\":false}}\r\n{}PING\r\n", commands)));
  while (!socket.unread().contains("PONG\r\n")) RELAY_TRY(socket.wait_and_read());
  if (socket.unread().contains("-ERR")) return fail("NATS refused: " + std::string{socket.unread()});
  return socket;
}

enum class DeliveryMode { Core, JetStream };

/// A receiver acknowledges to the reply subject, which only JetStream sets. A JetStream sender gets the PubAck in its
/// own inbox.
class NatsEndpoint final : public Endpoint {
 public:
  NatsEndpoint(ByteSocket socket, Role role, std::string inbox)
      : socket_{std::move(socket)}, role_{role}, inbox_{std::move(inbox)} {}

  void send(std::string_view to, std::string_view body) override {
    socket_.queue(publish(subject_of(to), inbox_, body));
  }

  Result<ReadCounts> read() override {
    ReadCounts counts;
    Message message;
    for (auto taken = take(socket_, message); taken != Taken::Nothing; taken = take(socket_, message)) {
      if (taken != Taken::Message) continue;
      if (role_ == Role::Sender) {
        if (message.body.contains(R"("error")")) return fail("JetStream refused: " + std::string{message.body});
        ++counts.confirmations;
        continue;
      }
      ++counts.deliveries;
      if (!message.reply.empty()) socket_.queue(publish(message.reply, "", "+ACK"));
    }
    return counts;
  }

  ByteSocket& socket() override { return socket_; }

 private:
  ByteSocket socket_;
  Role role_;
  std::string inbox_;
};

class RunningNats final : public RunningServer {
 public:
  RunningNats(ServerProcess server, std::uint16_t port, DeliveryMode mode)
      : server_{std::move(server)}, port_{port}, mode_{mode} {}

  Result<void> make_stream() {
    return request(relay::format("STREAM.CREATE.{}", kStream),
                   relay::format(R"({{"name":"{}","subjects":["m.>"],"storage":"file"}})", kStream));
  }

  Result<std::vector<std::unique_ptr<Endpoint>>> open(std::span<const Seat> seats) override {
    std::vector<std::unique_ptr<Endpoint>> endpoints;
    for (const auto& seat : seats) {
      const auto from = subject_of(seat.role == Role::Audience ? kEveryonesSubject : std::string_view{seat.name});
      auto subject = from, inbox = std::string{};
      if (mode_ == DeliveryMode::JetStream) {
        if (seat.role == Role::Sender) {
          subject = inbox = "inbox." + seat.name;
        } else {
          subject = "deliver." + seat.name;
          RELAY_TRY(make_consumer(seat.name, from, subject));
        }
      }
      auto socket = RELAY_TRY(join(port_, relay::format("SUB {} 1\r\n", subject)));
      endpoints.push_back(std::make_unique<NatsEndpoint>(std::move(socket), seat.role, inbox));
    }
    return endpoints;
  }

  [[nodiscard]] const ServerProcess& server() const override { return server_; }

 private:
  /// A durable consumer, created once per name. The server keeps its position.
  Result<void> make_consumer(const std::string& name, const std::string& from, const std::string& to) {
    if (!consumers_.insert(name).second) return {};
    return request(relay::format("CONSUMER.DURABLE.CREATE.{}.{}", kStream, name),
                   relay::format(R"({{"stream_name":"{}","config":{{"durable_name":"{}","deliver_subject":"{}",)"
                                 R"("filter_subject":"{}","deliver_policy":"all","ack_policy":"explicit",)"
                                 R"("max_ack_pending":4096,"ack_wait":30000000000}}}})",
                                 kStream, name, to, from));
  }

  Result<void> request(const std::string& command, const std::string& body) {
    if (!admin_) admin_.emplace(RELAY_TRY(join(port_, "SUB inbox.admin 1\r\n")));
    RELAY_TRY(admin_->write_all(publish("$JS.API." + command, "inbox.admin", body)));
    Message response;
    for (auto taken = take(*admin_, response); taken != Taken::Message; taken = take(*admin_, response))
      if (taken == Taken::Nothing) RELAY_TRY(admin_->wait_and_read());
    if (response.body.contains(R"("error")")) return fail("JetStream refused: " + std::string{response.body});
    return {};
  }

  ServerProcess server_;
  std::uint16_t port_;
  DeliveryMode mode_;
  std::optional<ByteSocket> admin_;
  std::set<std::string> consumers_;
};

class Nats final : public Subject {
 public:
  Nats(Traits traits, DeliveryMode mode) : Subject{std::move(traits)}, mode_{mode} {}

  [[nodiscard]] std::optional<std::string> missing() const override {
    if (find_program("nats-server")) return std::nullopt;
    return "nats-server is not installed";
  }

  [[nodiscard]] Result<std::unique_ptr<RunningServer>> start() const override {
    auto server = RELAY_TRY(ServerProcess::create());
    const auto port = RELAY_TRY(free_port());
    std::vector<std::string> args{find_program("nats-server").value_or(""), "--addr", "127.0.0.1", "--port",
                                  relay::format("{}", port)};
    if (mode_ == DeliveryMode::JetStream) args.insert(args.end(), {"--jetstream", "--store_dir", server.directory()});
    RELAY_TRY(server.start(args));
    RELAY_TRY(server.until([&] { return ByteSocket::connect_loopback(port).has_value(); }));
    auto running = std::make_unique<RunningNats>(std::move(server), port, mode_);
    if (mode_ == DeliveryMode::JetStream) RELAY_TRY(running->make_stream());
    return running;
  }

 private:
  DeliveryMode mode_;
};

}  // namespace

void add_nats(Subjects& subjects) {
  subjects.push_back(std::make_unique<Nats>(
      Traits{.name = "nats", .title = "NATS core", .note = "loopback TCP; offline receivers miss messages"},
      DeliveryMode::Core));
  subjects.push_back(std::make_unique<Nats>(
      Traits{.name = "jetstream",
             .title = "NATS JetStream, file",
             .guarantee = AckGuarantee::Process,
             .keeps_messages = true,
             .note = "loopback TCP, push consumers with explicit ACK; its default: written before the answer, synced "
                     "every two minutes"},
      DeliveryMode::JetStream));
}

}  // namespace relay::bench
