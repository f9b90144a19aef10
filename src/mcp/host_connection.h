/// The MCP server's connection to the host socket (docs/spec/host.md): requests with responses, and events of the host.
///
/// Invariants: connects with the first request and watches the host after that. A request gets its response, or fails
///   when the connection is lost or its timeout passes; at most kMaxRequests are open. After a loss the next request
///   reconnects.
/// Ownership: borrows loop and network. Threading: loop thread only.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/lifetime.h"
#include "net/event_loop.h"
#include "net/stream.h"
#include "protocol/frame.h"

namespace relay::mcp {

class HostConnection final : public net::StreamListener {
 public:
  static constexpr std::size_t kMaxRequests = 64;
  using OnReply = std::move_only_function<void(Result<json::object>)>;
  using OnEvent = std::move_only_function<void(const json::object&)>;
  using OnLost = std::move_only_function<void(const std::string&)>;

  HostConnection(net::EventLoop& loop, net::Network& network, std::string path, OnEvent on_event, OnLost on_lost);
  ~HostConnection() override;

  void connect();
  void request(json::object request, Millis timeout, OnReply on_reply);

 private:
  struct PendingRequest {
    OnReply on_reply;
    std::unique_ptr<net::Timer> timeout;
  };
  enum class State { Closed, Connecting, Open };

  void on_connected(Result<std::unique_ptr<net::Stream>> stream);
  void on_bytes(std::string_view bytes) override;
  void on_written(std::size_t) override {}
  void on_closed(const std::string& reason) override { lose(reason); }
  void on_frame(const json::object& frame);
  void lose(const std::string& reason);
  void write(const json::object& request);
  void complete(const std::string& id, Result<json::object> reply);

  net::EventLoop& loop_;
  net::Network& network_;
  std::string path_;
  OnEvent on_event_;
  OnLost on_lost_;
  State state_ = State::Closed;
  std::uint64_t last_id_ = 0;
  std::map<std::string, PendingRequest> open_;
  std::vector<json::object> queued_;  // while connecting
  protocol::FrameReader reader_;
  std::unique_ptr<net::Stream> stream_;
  Lifetime lifetime_;
};

}  // namespace relay::mcp
