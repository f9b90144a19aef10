/// A fake host socket: records requests and sends what the test scripts.
#pragma once

#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "base/format.h"
#include "host/control/host_record.h"
#include "host/control/terminal_frame.h"
#include "net/stream.h"
#include "protocol/frame.h"

namespace relay::api::testing {

class ScriptedHost final : private net::StreamListener {
 public:
  ScriptedHost(net::Network& network, const std::string& directory, const std::string& agent)
      : listener_{network
                      .listen(directory + "/" + agent + ".sock",
                              [this](std::unique_ptr<net::Stream> stream) {
                                ++connections;
                                stream_ = std::move(stream);
                                stream_->start(*this);
                              })
                      .value()},
        record_{host::RecordFile::write(directory, {.id = "h-" + agent,
                                                    .name = agent,
                                                    .host_pid = ::getpid(),
                                                    .agent_pid = ::getpid(),
                                                    .cli = "claude",
                                                    .socket = directory + "/" + agent + ".sock"})
                    .value()} {}

  std::vector<std::string> requests;
  int connections = 0;
  bool disconnected = false;

  void send_json(std::string_view json) { frame(json); }
  void send_output(std::string_view bytes) { frame(host::kTerminalFrameByte + std::string{bytes}); }
  /// Responds to an attach like a host.
  void accept_attach(int columns, int rows, std::string_view screen) {
    send_json(format(R"({{"method":"attach","ok":true,"mode":"view","columns":{},"rows":{}}})", columns, rows));
    send_output(screen);
  }
  void send_bytes(std::string_view bytes) { stream_->write(bytes); }
  void disconnect() { stream_->close(net::Drain::Yes); }
  [[nodiscard]] std::size_t waiting() const { return stream_ ? stream_->bytes_waiting() : 0; }

 private:
  void on_bytes(std::string_view bytes) override {
    reader_.push(bytes);
    while (const auto frame = reader_.next().value()) requests.emplace_back(*frame);
  }
  void on_written(std::size_t) override {}
  void on_closed(const std::string&) override { disconnected = true; }
  void frame(std::string_view body) {
    std::string bytes;
    protocol::append_frame(bytes, protocol::HeaderStyle::Four, body);
    stream_->write(bytes);
  }

  std::unique_ptr<net::Listener> listener_;
  host::RecordFile record_;
  protocol::FrameReader reader_;
  std::unique_ptr<net::Stream> stream_;
};

}  // namespace relay::api::testing
