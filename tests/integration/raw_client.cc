#include "integration/raw_client.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>

#include "base/format.h"

namespace relay::integration {

using Clock = std::chrono::steady_clock;

std::string envelope(std::string_view type, std::string_view id, std::string_view payload, std::string_view more) {
  return format(R"({{"v":1,"type":"{}","id":"{}","ts":1,{}"payload":{}}})", type, id, more, payload);
}

RawClient::RawClient(const std::string& path) : fd_{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    ADD_FAILURE() << "path too long: " << path;
    return;
  }
  std::memcpy(address.sun_path, path.c_str(), path.size());
  EXPECT_EQ(::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0)
      << path << ": " << std::strerror(errno);
}

void RawClient::send_frame(std::string_view body) {
  std::string wire;
  protocol::append_frame(wire, protocol::HeaderStyle::Four, body);
  send_bytes(wire);
}

void RawClient::send_bytes(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return;  // the daemon closed; its last frames can still be read
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

bool RawClient::read_more(Clock::time_point deadline) {
  if (at_end_) return false;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  pollfd watched{fd_.get(), POLLIN, 0};
  if (left < 0 || ::poll(&watched, 1, static_cast<int>(left)) <= 0) return false;
  char buffer[65536];
  const ssize_t count = ::recv(fd_.get(), buffer, sizeof buffer, 0);
  if (count <= 0) {
    at_end_ = true;
    return false;
  }
  reader_.push({buffer, static_cast<std::size_t>(count)});
  return true;
}

std::optional<json::object> RawClient::receive(std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  for (;;) {
    const auto body = reader_.next();
    EXPECT_TRUE(body.has_value());
    if (!body) return std::nullopt;
    if (!*body) {
      if (!read_more(deadline)) return std::nullopt;
      continue;
    }
    auto frame = parse_json_object(**body);
    EXPECT_TRUE(frame.has_value()) << **body;
    if (!frame) return std::nullopt;
    if (type_of(*frame) != "PING") return *std::move(frame);
    if (answers_pings) send_frame(envelope("PONG", "pong", json::serialize(frame->at("payload"))));
  }
}

json::object RawClient::receive_type(std::string_view type, std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  std::string skipped;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    auto frame = receive(std::max(left, std::chrono::milliseconds{0}));
    if (!frame) {
      ADD_FAILURE() << "no " << type << (at_end_ ? " before the end;" : " in time;") << " received:" << skipped;
      return {};
    }
    if (type_of(*frame) == type) return *std::move(frame);
    skipped += " " + json::serialize(*frame);
  }
}

bool RawClient::is_closed(std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  while (!at_end_ && Clock::now() < deadline) {
    if (!receive(std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()))) break;
  }
  return at_end_;
}

json::object RawClient::hello(std::string_view name, std::string_view more_members) {
  send_frame(envelope("HELLO", "hello",
                      format(R"({{"agent":"{}",{}"capabilities":{{"ack":true,"resume":true,"max_inflight":256,)"
                             R"("supports_topics":true,"send_ack":true}}}})",
                             name, more_members)));
  const auto welcome = receive_type("WELCOME");
  const json::object* payload = object_member(welcome, "payload");
  return payload == nullptr ? json::object{} : *payload;
}

void RawClient::send(std::string_view to, std::string_view body, std::string_view id) {
  send_frame(envelope("SEND", id, format(R"({{"kind":"message","body":"{}"}})", body), format(R"("to":"{}",)", to)));
}

std::string RawClient::next_body() {
  const auto deliver = receive_type("DELIVER");
  const json::object* delivery = object_member(deliver, "delivery");
  if (delivery == nullptr) return "";
  send_frame(envelope("ACK", "ack",
                      format(R"({{"ack_id":"{}","seq":{}}})", string_member(deliver, "id").value_or(""),
                             integer_member(*delivery, "seq").value_or(0))));
  return payload_string(deliver, "body");
}

void register_agent(const std::string& socket, std::string_view name) { RawClient{socket}.hello(name); }

std::string payload_string(const json::object& frame, std::string_view name) {
  const json::object* payload = object_member(frame, "payload");
  return payload == nullptr ? "" : string_member(*payload, name).value_or("");
}

std::string type_of(const json::object& frame) { return string_member(frame, "type").value_or(""); }

}  // namespace relay::integration
