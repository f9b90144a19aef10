/// One request to a host socket (docs/spec/host.md) and its outcome, without blocking.
///
/// Contract: `done` is called once, never from the constructor; it may destroy the call. A host that closes the
///   connection without a response has ended only if nothing listens at its socket. The error has the code that the host
///   sent, if any (protocol::nack_code_of).
/// Ownership: borrows loop and network, which outlive it; destroying it closes the connection without a callback.
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
#include "protocol/frame.h"

namespace relay::host {

/// When the call is done: with the response, or when nothing listens at the socket.
enum class CallUntil { Response, HostEnd };

struct HostCallRequest {
  std::string agent;   // for error messages
  std::string socket;  // of the host
  std::string body;    // JSON
  CallUntil until = CallUntil::Response;
  Millis timeout{5'000};
};

class HostCall final : private net::StreamListener {
 public:
  /// The response; empty for a host that has ended as requested.
  using Done = std::move_only_function<void(Result<json::object>)>;

  HostCall(net::EventLoop& loop, net::Network& network, HostCallRequest request, Done done);
  ~HostCall() override;
  HostCall(const HostCall&) = delete;
  HostCall& operator=(const HostCall&) = delete;

 private:
  void on_connected(Result<std::unique_ptr<net::Stream>> stream);
  void on_bytes(std::string_view bytes) override;
  void on_written(std::size_t) override {}
  void on_closed(const std::string& reason) override;
  void on_timeout();
  /// Connects again: a host that is ending may still listen for a moment.
  void recheck();
  void on_rechecked(const Result<std::unique_ptr<net::Stream>>& stream);
  void on_response(std::string_view frame);
  void finish(Result<json::object> outcome);

  net::EventLoop& loop_;
  net::Network& network_;
  HostCallRequest request_;
  Done done_;
  int rechecks_ = 0;
  bool answered_ = false;
  protocol::FrameReader reader_;
  std::unique_ptr<net::Timer> timer_, recheck_timer_;
  std::unique_ptr<net::Stream> stream_;
  Lifetime lifetime_;
};

}  // namespace relay::host
