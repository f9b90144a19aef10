#include "client/daemon_call.h"

#include "base/format.h"
#include "base/json.h"
#include "client/errors.h"
#include "client/hello_frame.h"
#include "protocol/limits.h"
#include "protocol/send.h"

namespace relay::client {
namespace {

using protocol::MessageType;

Failure unreachable(std::string_view reason) {
  return fail(Errc::NoDaemon, format("cannot reach the daemon: {}; start it with: agent-relay up", reason));
}

}  // namespace

DaemonCall::DaemonCall(net::EventLoop& loop, net::Network& network, std::string socket, DaemonRequest request,
                       OnResponse on_response)
    : loop_{loop},
      network_{network},
      socket_{std::move(socket)},
      request_{std::move(request)},
      on_response_{std::move(on_response)} {}

DaemonCall::~DaemonCall() = default;

void DaemonCall::start() {
  deadline_ = loop_.after(request_.timeout, [this] { on_timeout(); });
  network_.connect(socket_, [this, alive = lifetime_.watch()](Result<std::unique_ptr<net::Stream>> stream) {
    if (alive) on_connected(std::move(stream));
  });
}

void DaemonCall::on_timeout() {
  if (!sent_) return finish(unreachable("it did not respond in time"));
  finish(fail(Errc::TimedOut, "the daemon did not respond in time"));
}

void DaemonCall::on_connected(Result<std::unique_ptr<net::Stream>> stream) {
  if (!on_response_) return;  // timed out
  if (!stream) return finish(unreachable(connect_reason(stream.error())));
  stream_ = *std::move(stream);
  stream_->start(*this);
  if (request_.handshake == Handshake::None) return send_request();
  send_hello();
}

void DaemonCall::send_hello() {
  protocol::Hello hello;
  hello.agent = "cli";
  hello.system_component = true;
  hello.system_token = request_.system_token;
  hello.capabilities.ack = false;
  hello.capabilities.send_ack = true;
  const auto payload = write_hello(hello);
  write({.type = MessageType::Hello, .id = request_.id + "-hello", .payload = payload});
}

void DaemonCall::send_request() {
  const protocol::OutEnvelope envelope{.type = request_.type,
                                       .id = request_.id,
                                       .ts = loop_.now().wall,
                                       .from = request_.from,
                                       .to = request_.to,
                                       .topic = request_.topic,
                                       .claim_token = request_.claim_token,
                                       .payload = request_.payload,
                                       .payload_meta = request_.payload_meta};
  if (const auto bytes = protocol::write_envelope(envelope).size(); bytes > protocol::kMaxFrameBytes)
    return finish(fail(Errc::TooLarge, format("the request has {} bytes, more than the {} that a frame can hold", bytes,
                                              protocol::kMaxFrameBytes)));
  sent_ = true;
  write(envelope);
}

void DaemonCall::write(protocol::OutEnvelope envelope) {
  envelope.ts = loop_.now().wall;
  std::string bytes;
  protocol::append_frame(bytes, reader_.style(), protocol::write_envelope(envelope));
  stream_->write(bytes);
}

void DaemonCall::on_bytes(std::string_view bytes) {
  reader_.push(bytes);
  const auto alive = lifetime_.watch();
  while (alive && on_response_) {
    const auto frame = reader_.next();
    if (!frame) return on_closed(frame.error().message());
    if (!*frame) return;
    if (const auto envelope = protocol::parse_envelope(**frame)) on_frame(*envelope);
  }
}

bool DaemonCall::is_response(const protocol::Envelope& envelope) const {
  if (envelope.id == request_.id) return true;
  const auto payload = parse_json_object(envelope.payload);
  if (!payload) return false;
  for (const auto* name : {"ack_id", "nack_id", "replyTo"})
    if (string_member(*payload, name) == request_.id) return true;
  return false;
}

void DaemonCall::on_frame(const protocol::Envelope& envelope) {
  switch (envelope.type) {
    case MessageType::Ping: return write({.type = MessageType::Pong, .id = envelope.id, .payload = envelope.payload});
    case MessageType::Welcome: return sent_ ? void() : send_request();
    case MessageType::Error: {
      const auto error = protocol::parse_error(envelope.payload);
      if (!error) return finish(fail(Errc::Refused, error.error().message()));
      if (!sent_ && !error->fatal) return;
      return finish(refused_by_daemon(error->code, error->message));
    }
    default:
      if (sent_ && is_response(envelope)) finish(DaemonResponse{envelope.type, std::string{envelope.payload}});
  }
}

void DaemonCall::on_closed(const std::string& reason) {
  if (!sent_) return finish(unreachable(reason));
  finish(fail(Errc::Lost, format("the daemon closed the connection before it responded ({})", reason)));
}

/// The callback comes last: it may destroy the call.
void DaemonCall::finish(Result<DaemonResponse> response) {
  deadline_.reset();
  if (stream_) stream_->close(net::Drain::Yes);
  if (auto on_response = std::exchange(on_response_, nullptr)) on_response(std::move(response));
}

}  // namespace relay::client
