/// One request to a socket of the daemon without a HELLO, and its response: workspace requests on the control socket
/// (wire.md 12), and a SEND from a client without a session (8.5).
///
/// Contract: `on_done` is called once, never inside the constructor. It may destroy the call.
/// Ownership: borrows loop and network, which outlive it. Destroying it closes the connection and calls nothing.
/// Threading: loop thread only.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/json.h"
#include "base/lifetime.h"
#include "base/result.h"
#include "net/event_loop.h"
#include "net/stream.h"
#include "protocol/envelope.h"
#include "protocol/frame.h"

namespace relay::api {

struct DaemonRequest {
  protocol::MessageType type{};
  std::string id = {};
  std::string from = {}, to = {};  // for SEND only
  std::string claim_token = {};
  std::string payload = "{}";
  std::string payload_meta = {};
  Millis timeout{5'000};
};

struct DaemonResponse {
  protocol::MessageType type{};
  json::object payload = {};
};

class DaemonCall final : private net::StreamListener {
 public:
  /// The error has a code of client::Errc: NoDaemon (nothing was sent), Lost, TimedOut or Refused; or it is the one that
  /// the daemon reported (client::refused_by_daemon).
  using OnDone = std::move_only_function<void(Result<DaemonResponse>)>;

  DaemonCall(net::EventLoop& loop, net::Network& network, const std::string& socket, DaemonRequest request,
             OnDone on_done);
  ~DaemonCall() override;
  DaemonCall(const DaemonCall&) = delete;
  DaemonCall& operator=(const DaemonCall&) = delete;

 private:
  void on_connected(Result<std::unique_ptr<net::Stream>> stream);
  void on_bytes(std::string_view bytes) override;
  void on_written(std::size_t) override {}
  void on_closed(const std::string& reason) override;
  void on_frame(const protocol::Envelope& envelope);
  void write(const protocol::OutEnvelope& envelope);
  void finish(Result<DaemonResponse> result);

  net::EventLoop& loop_;
  DaemonRequest request_;
  OnDone on_done_;
  protocol::FrameReader reader_;
  std::unique_ptr<net::Timer> deadline_;
  std::unique_ptr<net::Stream> stream_;
  Lifetime lifetime_;
};

}  // namespace relay::api
