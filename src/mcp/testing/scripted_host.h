/// The host socket of a unit test: the test reads every request and sends every response.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "net/stream.h"
#include "protocol/frame.h"

namespace relay::mcp::testing {

class ScriptedHost final : public net::Network {
 public:
  Result<std::unique_ptr<net::Listener>> listen(const std::string&, net::OnAccept) override {
    return fail("a scripted host listens by itself");
  }
  void connect(const std::string&, net::OnConnect on_connect) override {
    if (!open) return on_connect(fail("no one is listening"));
    on_connect(std::make_unique<End>(*this));
  }

  void send(const json::object& frame) {
    std::string bytes;
    protocol::append_frame(bytes, protocol::HeaderStyle::Four, json::serialize(frame));
    end_->listener->on_bytes(bytes);
  }
  /// The response to the last request, with additional members.
  void answer(json::object frame) {
    frame["method"] = requests.back()["method"];
    frame["id"] = requests.back()["id"];
    if (!frame.contains("ok")) frame["ok"] = true;
    send(frame);
  }
  void send_bytes(std::string_view bytes) { end_->listener->on_bytes(bytes); }
  void close() { end_->listener->on_closed("the peer closed the connection"); }

  bool open = true;
  std::vector<json::object> requests;

 private:
  struct End final : net::Stream {
    explicit End(ScriptedHost& owner) : host{owner} { host.end_ = this; }
    ~End() override {
      if (host.end_ == this) host.end_ = nullptr;
    }
    void start(net::StreamListener& to) override { listener = &to; }
    void write(std::string_view bytes) override {
      reader.push(bytes);
      while (const auto frame = reader.next().value()) host.requests.push_back(parse_json_object(*frame).value());
    }
    [[nodiscard]] std::size_t bytes_waiting() const override { return 0; }
    void pause_reading() override {}
    void resume_reading() override {}
    void close(net::Drain) override {}
    [[nodiscard]] net::Peer peer() const override { return {}; }

    ScriptedHost& host;
    net::StreamListener* listener = nullptr;
    protocol::FrameReader reader;
  };
  End* end_ = nullptr;
};

}  // namespace relay::mcp::testing
