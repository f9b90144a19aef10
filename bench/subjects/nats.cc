/// NATS on loopback (it has no Unix socket): core, which keeps nothing, and JetStream on files.
#include <charconv>
#include <set>

#include "base/format.h"
#include "subjects/subject.h"

namespace relay::bench {
namespace {

constexpr std::string_view kEveryonesSubject = "everyone";
constexpr std::string_view kStream = "bench";  // of JetStream: all subjects below `m.`

std::string subject_of(std::string_view to) { return relay::format("m.{}", to == kEveryone ? kEveryonesSubject : to); }

std::string publish(std::string_view subject, std::string_view reply, std::string_view body) {
  return relay::format("PUB {} {} {}\r\n{}\r\n", subject, reply, body.size(), body);
}

/// One message as the server sends it: `MSG subject sid [reply] bytes`, a line end, the body, a line end.
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
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const auto blank = line.find(' ');
    words.push_back(line.substr(0, blank));
    line.remove_prefix(blank == std::string_view::npos ? line.size() : blank + 1);
  }
  std::size_t size = 0;
  std::from_chars(words.back().data(), words.back().data() + words.back().size(), size);
  if (bytes.size() < end + 2 + size + 2) return Taken::Nothing;
  message = {.reply = words.size() == 5 ? words[3] : std::string_view{}, .body = bytes.substr(end + 2, size)};
  socket.consume(end + 2 + size + 2);
  return Taken::Message;
}

/// Connected, and whatever else is said has been taken in by the server before this returns. What came is left to be heard:
/// mail may be among it.
Result<ByteSocket> join(std::uint16_t port, std::string_view words) {
  auto socket = RELAY_TRY(ByteSocket::connect_loopback(port));
  RELAY_TRY(socket.write_all(relay::format("CONNECT {{\"verbose\":false,\"pedantic\":false}}\r\n{}PING\r\n", words)));
  while (!socket.unread().contains("PONG\r\n")) RELAY_TRY(socket.wait_and_read());
  if (socket.unread().contains("-ERR")) return fail("NATS refused: " + std::string{socket.unread()});
  return socket;
}

enum class Manner { Core, JetStream };

/// A receiver acknowledges to the reply subject, which only JetStream gives; a sender of JetStream hears what became of
/// its message at its own inbox.
class NatsEndpoint final : public Endpoint {
 public:
  NatsEndpoint(ByteSocket socket, Role role, std::string inbox)
      : socket_{std::move(socket)}, role_{role}, inbox_{std::move(inbox)} {}

  void send(std::string_view to, std::string_view body) override {
    socket_.queue(publish(subject_of(to), inbox_, body));
  }

  Result<Heard> hear() override {
    Heard heard;
    Message message;
    for (auto taken = take(socket_, message); taken != Taken::Nothing; taken = take(socket_, message)) {
      if (taken != Taken::Message) continue;
      if (role_ == Role::Sender) {
        if (message.body.contains(R"("error")")) return fail("JetStream refused: " + std::string{message.body});
        ++heard.confirmations;
        continue;
      }
      ++heard.deliveries;
      if (!message.reply.empty()) socket_.queue(publish(message.reply, "", "+ACK"));
    }
    return heard;
  }

  ByteSocket& socket() override { return socket_; }

 private:
  ByteSocket socket_;
  Role role_;
  std::string inbox_;
};

class RunningNats final : public Running {
 public:
  RunningNats(ServerProcess server, std::uint16_t port, Manner manner)
      : server_{std::move(server)}, port_{port}, manner_{manner} {}

  Result<void> make_stream() {
    return ask(relay::format("STREAM.CREATE.{}", kStream),
               relay::format(R"({{"name":"{}","subjects":["m.>"],"storage":"file"}})", kStream));
  }

  Result<std::vector<std::unique_ptr<Endpoint>>> open(std::span<const Seat> seats) override {
    std::vector<std::unique_ptr<Endpoint>> endpoints;
    for (const auto& seat : seats) {
      const auto from = subject_of(seat.role == Role::Audience ? kEveryonesSubject : std::string_view{seat.name});
      auto heard_at = from, inbox = std::string{};
      if (manner_ == Manner::JetStream) {
        if (seat.role == Role::Sender) {
          heard_at = inbox = "inbox." + seat.name;
        } else {
          heard_at = "deliver." + seat.name;
          RELAY_TRY(make_consumer(seat.name, from, heard_at));
        }
      }
      auto socket = RELAY_TRY(join(port_, relay::format("SUB {} 1\r\n", heard_at)));
      endpoints.push_back(std::make_unique<NatsEndpoint>(std::move(socket), seat.role, inbox));
    }
    return endpoints;
  }

  [[nodiscard]] const ServerProcess& server() const override { return server_; }

 private:
  /// Its place in the stream is the server's to keep; made once for each name.
  Result<void> make_consumer(const std::string& name, const std::string& from, const std::string& to) {
    if (!consumers_.insert(name).second) return {};
    return ask(relay::format("CONSUMER.DURABLE.CREATE.{}.{}", kStream, name),
               relay::format(R"({{"stream_name":"{}","config":{{"durable_name":"{}","deliver_subject":"{}",)"
                             R"("filter_subject":"{}","deliver_policy":"all","ack_policy":"explicit",)"
                             R"("max_ack_pending":4096,"ack_wait":30000000000}}}})",
                             kStream, name, to, from));
  }

  Result<void> ask(const std::string& what, const std::string& body) {
    if (!admin_) admin_.emplace(RELAY_TRY(join(port_, "SUB inbox.admin 1\r\n")));
    RELAY_TRY(admin_->write_all(publish("$JS.API." + what, "inbox.admin", body)));
    Message answer;
    for (auto taken = take(*admin_, answer); taken != Taken::Message; taken = take(*admin_, answer))
      if (taken == Taken::Nothing) RELAY_TRY(admin_->wait_and_read());
    if (answer.body.contains(R"("error")")) return fail("JetStream refused: " + std::string{answer.body});
    return {};
  }

  ServerProcess server_;
  std::uint16_t port_;
  Manner manner_;
  std::optional<ByteSocket> admin_;
  std::set<std::string> consumers_;
};

class Nats final : public Subject {
 public:
  Nats(Traits traits, Manner manner) : Subject{std::move(traits)}, manner_{manner} {}

  [[nodiscard]] std::optional<std::string> missing() const override {
    if (find_program("nats-server")) return std::nullopt;
    return "nats-server is not installed";
  }

  [[nodiscard]] Result<std::unique_ptr<Running>> start() const override {
    auto server = RELAY_TRY(ServerProcess::in_new_place());
    const auto port = RELAY_TRY(free_port());
    std::vector<std::string> words{find_program("nats-server").value_or(""), "--addr", "127.0.0.1", "--port",
                                   relay::format("{}", port)};
    if (manner_ == Manner::JetStream) words.insert(words.end(), {"--jetstream", "--store_dir", server.place()});
    RELAY_TRY(server.start(words));
    RELAY_TRY(server.until([&] { return ByteSocket::connect_loopback(port).has_value(); }));
    auto running = std::make_unique<RunningNats>(std::move(server), port, manner_);
    if (manner_ == Manner::JetStream) RELAY_TRY(running->make_stream());
    return running;
  }

 private:
  Manner manner_;
};

}  // namespace

void add_nats(Subjects& subjects) {
  subjects.push_back(std::make_unique<Nats>(
      Traits{.name = "nats", .title = "NATS core", .note = "loopback TCP; who is away misses it"}, Manner::Core));
  subjects.push_back(std::make_unique<Nats>(
      Traits{.name = "jetstream",
             .title = "NATS JetStream, file",
             .promise = AckGuarantee::Process,
             .keeps_mail = true,
             .note = "loopback TCP, push consumers with explicit ACK; its default: written before the answer, synced "
                     "every two minutes"},
      Manner::JetStream));
}

}  // namespace relay::bench
