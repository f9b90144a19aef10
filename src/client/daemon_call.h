/// One request to a socket of the daemon on a separate connection, and its response.
///
/// Why not a link: a link owns a name and a session. This is for a SEND without HELLO (wire.md 8.5), for a request that
///   the daemon treats as one of the command line (wire.md 6.1, `cli`), and for the control socket (wire.md 12).
/// Invariants: the callback runs exactly once, unless the call is destroyed first; it may destroy the call.
/// Ownership: borrows loop and network, which outlive it; owns the connection. Threading: loop thread only.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/lifetime.h"
#include "net/event_loop.h"
#include "net/stream.h"
#include "protocol/envelope.h"
#include "protocol/frame.h"

namespace relay::client {

enum class Handshake : std::uint8_t {
  None,      // the request is the first frame: a SEND, or anything to the control socket
  AsSystem,  // HELLO as `cli`, a system component, comes first
};

struct DaemonRequest {
  protocol::MessageType type{};
  std::string id = {};
  std::string from = {}, to = {}, topic = {};  // of a SEND
  std::string claim_token = {};                // of a SEND or a SPAWN
  std::string payload = "{}";
  std::string payload_meta = {};  // of a SEND
  Handshake handshake = Handshake::None;
  std::string system_token = {};  // for the HELLO
  Millis timeout{5'000};
};

struct DaemonResponse {
  protocol::MessageType type{};
  std::string payload = {};
};

class DaemonCall final : private net::StreamListener {
 public:
  /// The error has a code of client::Errc. NoDaemon and TooLarge: the request was not sent. TimedOut and Lost: it was,
  /// and it is unknown whether the daemon executed it. Otherwise the daemon's ERROR (refused_by_daemon).
  using OnResponse = std::move_only_function<void(Result<DaemonResponse>)>;

  DaemonCall(net::EventLoop& loop, net::Network& network, std::string socket, DaemonRequest request,
             OnResponse on_response);
  ~DaemonCall() override;
  DaemonCall(const DaemonCall&) = delete;
  DaemonCall& operator=(const DaemonCall&) = delete;

  /// Called once. The callback may run inside.
  void start();

 private:
  void on_connected(Result<std::unique_ptr<net::Stream>> stream);
  void on_bytes(std::string_view bytes) override;
  void on_written(std::size_t) override {}
  void on_closed(const std::string& reason) override;
  void on_frame(const protocol::Envelope& envelope);
  void on_timeout();
  void write(protocol::OutEnvelope envelope);
  void send_hello();
  void send_request();
  void finish(Result<DaemonResponse> response);
  [[nodiscard]] bool is_response(const protocol::Envelope& envelope) const;

  net::EventLoop& loop_;
  net::Network& network_;
  std::string socket_;
  DaemonRequest request_;
  OnResponse on_response_;
  bool sent_ = false;
  protocol::FrameReader reader_;
  std::unique_ptr<net::Timer> deadline_;
  std::unique_ptr<net::Stream> stream_;
  Lifetime lifetime_;
};

}  // namespace relay::client
