#include "api/client/daemon_call.h"

#include "base/format.h"
#include "client/errors.h"
#include "protocol/send.h"

namespace relay::api {

using client::Errc;
using protocol::MessageType;

DaemonCall::DaemonCall(net::EventLoop& loop, net::Network& network, const std::string& socket, DaemonRequest request,
                       OnDone on_done)
    : loop_{loop}, request_{std::move(request)}, on_done_{std::move(on_done)} {
  deadline_ = loop_.after(request_.timeout,
                          [this] { finish(fail(Errc::TimedOut, "the daemon did not respond in time; try again")); });
  network.connect(socket, [this, alive = lifetime_.watch()](Result<std::unique_ptr<net::Stream>> stream) {
    if (alive) on_connected(std::move(stream));
  });
}

DaemonCall::~DaemonCall() = default;

void DaemonCall::on_connected(Result<std::unique_ptr<net::Stream>> stream) {
  if (!stream) return finish(fail(Errc::NoDaemon, format("cannot reach the daemon: {}", stream.error().message())));
  stream_ = *std::move(stream);
  stream_->start(*this);
  write({.type = request_.type,
         .id = request_.id,
         .from = request_.from,
         .to = request_.to,
         .claim_token = request_.claim_token,
         .payload = request_.payload,
         .payload_meta = request_.payload_meta});
}

void DaemonCall::write(const protocol::OutEnvelope& envelope) {
  auto stamped = envelope;
  stamped.ts = loop_.now().wall;
  const auto frame = protocol::write_envelope(stamped);
  if (frame.size() > protocol::kMaxFrameBytes)
    return finish(fail(Errc::TooLarge,
                       format("the request is too large; the daemon accepts {} bytes", protocol::kMaxFrameBytes)));
  std::string bytes;
  protocol::append_frame(bytes, reader_.style(), frame);
  stream_->write(bytes);
}

void DaemonCall::on_bytes(std::string_view bytes) {
  reader_.push(bytes);
  const auto alive = lifetime_.watch();
  while (alive && on_done_) {
    const auto frame = reader_.next();
    if (!frame) return finish(fail(Errc::Lost, frame.error().message()));
    if (!*frame) return;
    if (const auto envelope = protocol::parse_envelope(**frame)) on_frame(*envelope);
  }
}

void DaemonCall::on_frame(const protocol::Envelope& envelope) {
  if (envelope.type == MessageType::Ping)
    return write({.type = MessageType::Pong, .id = envelope.id, .payload = envelope.payload});
  if (envelope.type == MessageType::Error) {
    const auto error = protocol::parse_error(envelope.payload);
    return finish(error ? client::refused_by_daemon(error->code, error->message)
                        : fail(Errc::Refused, error.error().message()));
  }
  auto payload = parse_json_object(envelope.payload);
  if (!payload) return;
  const bool matches = envelope.id == request_.id || string_member(*payload, "ack_id") == request_.id ||
                       string_member(*payload, "nack_id") == request_.id;
  if (matches) finish(DaemonResponse{envelope.type, *std::move(payload)});
}

void DaemonCall::on_closed(const std::string& reason) {
  finish(fail(Errc::Lost, format("the connection was lost before the daemon responded ({}); try again", reason)));
}

/// The callback may destroy this call, so nothing follows it.
void DaemonCall::finish(Result<DaemonResponse> result) {
  deadline_.reset();
  if (stream_) stream_->close(net::Drain::Yes);
  if (auto on_done = std::exchange(on_done_, nullptr)) on_done(std::move(result));
}

}  // namespace relay::api
