/// One question to the daemon on a connection of its own, for a program that speaks for an agent whose session is another's.
///
/// Why not a link: the agent's host holds its session; a message from inside the agent goes as a SEND without HELLO that
///   shows the agent's claim token, and questions as those of the command line do.
/// Invariants: the callback runs exactly once, unless the errand is destroyed first.
/// Ownership: borrows loop and network; the connection is its own. Threading: loop thread only.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/lifetime.h"
#include "net/event_loop.h"
#include "net/stream.h"
#include "protocol/envelope.h"
#include "protocol/frame.h"

namespace relay::mcp {

struct DaemonRequest {
  protocol::MessageType type{};
  std::string id;
  std::string payload = "{}";
  std::string from = {}, to = {}, topic = {}, payload_meta = {};  // of a SEND
  std::string claim_token = {};
  std::string system_token = {};  // for a request that is no SEND
  Millis timeout{5'000};
};

struct DaemonResponse {
  protocol::MessageType type{};
  std::string payload;
};
/// How far it had come when it failed.
enum class DaemonCallErrc { NotSaid, NoAnswer };
std::string_view describe(DaemonCallErrc code);

class DaemonCall final : public net::StreamListener {
 public:
  using OnResponse = std::move_only_function<void(Result<DaemonResponse>)>;

  DaemonCall(net::EventLoop& loop, net::Network& network, std::string socket_path, DaemonRequest order,
             OnResponse on_answer);
  ~DaemonCall() override;
  void start();

 private:
  void on_connected(Result<std::unique_ptr<net::Stream>> stream);
  void on_bytes(std::string_view bytes) override;
  void on_written(std::size_t) override {}
  void on_closed(const std::string& reason) override;
  void on_frame(const protocol::Envelope& envelope);
  void write(const protocol::OutEnvelope& envelope);
  void send_request();
  void finish(Result<DaemonResponse> answer);
  [[nodiscard]] Failure failure(const std::string& sentence) const;
  [[nodiscard]] Failure unreachable(std::string_view reason) const;
  [[nodiscard]] bool answers(const protocol::Envelope& envelope) const;

  net::EventLoop& loop_;
  net::Network& network_;
  std::string socket_path_;
  DaemonRequest order_;
  OnResponse on_answer_;
  bool said_ = false;
  protocol::FrameReader reader_;
  std::unique_ptr<net::Timer> deadline_;
  std::unique_ptr<net::Stream> stream_;
  Lifetime lifetime_;
};

}  // namespace relay::mcp
