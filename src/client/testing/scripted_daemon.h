/// The daemon of a unit test: the test reads every frame and sends every response.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "net/stream.h"
#include "protocol/envelope.h"
#include "protocol/frame.h"

namespace relay::client::testing {

class ScriptedDaemon final : public net::Network {
 public:
  struct Frame {
    std::string type, id, to, topic;
    json::object payload;
    json::object envelope;
  };

  bool listening = true;
  std::size_t slow_bytes = 0;  // bytes that the peer has not read

  Result<std::unique_ptr<net::Listener>> listen(const std::string&, net::OnAccept) override {
    return fail("a scripted daemon listens by itself");
  }
  void connect(const std::string&, net::OnConnect on_connect) override {
    ++connects;
    if (!listening) return on_connect(fail("no one is listening"));
    on_connect(std::make_unique<End>(*this));
  }

  /// The frames that arrived since the last call.
  std::vector<Frame> take_frames() { return std::exchange(frames_, {}); }

  void send(protocol::MessageType type, std::string_view id, std::string_view payload, std::string_view from = {},
            std::string_view topic = {}, std::string_view delivery = {}) {
    std::string bytes;
    protocol::append_frame(
        bytes, protocol::HeaderStyle::Four,
        protocol::write_envelope(
            {.type = type, .id = id, .ts = 1, .from = from, .topic = topic, .payload = payload, .delivery = delivery}));
    send_bytes(bytes);
  }
  void send_bytes(std::string_view bytes) {
    RELAY_ASSERT(end_ != nullptr);
    end_->listener->on_bytes(bytes);
  }
  void welcome(std::string_view session = "s1", std::string_view token = "t1", std::string_view store = {}) {
    const auto payload = std::string{"{\"session_id\":\""}
                             .append(session)
                             .append("\",\"resume_token\":\"")
                             .append(token)
                             .append("\",\"server\":{\"max_frame_bytes\":1048576,\"heartbeat_ms\":5000,\"store_id\":\"")
                             .append(store)
                             .append("\"}}");
    send(protocol::MessageType::Welcome, "w", payload);
  }
  void disconnect() {
    auto* end = std::exchange(end_, nullptr);
    if (end != nullptr) end->listener->on_closed("the peer closed the connection");
  }
  void read_all() {
    slow_bytes = 0;
    if (end_ != nullptr) end_->listener->on_written(0);
  }
  [[nodiscard]] bool connected() const { return end_ != nullptr; }
  int connects = 0;

 private:
  struct End final : net::Stream {
    explicit End(ScriptedDaemon& owner) : daemon{owner} { daemon.end_ = this; }
    ~End() override {
      if (daemon.end_ == this) daemon.end_ = nullptr;
    }
    void start(net::StreamListener& to) override { listener = &to; }
    void write(std::string_view bytes) override {
      reader.push(bytes);
      if (daemon.slow_bytes > 0) daemon.slow_bytes += bytes.size();
      for (auto frame = reader.next(); frame && *frame; frame = reader.next()) daemon.on_frame(**frame);
    }
    [[nodiscard]] std::size_t bytes_waiting() const override { return daemon.slow_bytes; }
    void pause_reading() override {}
    void resume_reading() override {}
    void close(net::Drain) override {}
    [[nodiscard]] net::Peer peer() const override { return {}; }

    ScriptedDaemon& daemon;
    net::StreamListener* listener = nullptr;
    protocol::FrameReader reader;
  };

  void on_frame(std::string_view text) {
    auto object = parse_json_object(text);
    RELAY_ASSERT(object.has_value());
    Frame frame{string_member(*object, "type").value_or(""),
                string_member(*object, "id").value_or(""),
                string_member(*object, "to").value_or(""),
                string_member(*object, "topic").value_or(""),
                {},
                *object};
    if (const auto* payload = object_member(*object, "payload")) frame.payload = *payload;
    frames_.push_back(std::move(frame));
  }

  End* end_ = nullptr;
  std::vector<Frame> frames_;
};

}  // namespace relay::client::testing
