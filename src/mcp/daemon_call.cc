#include "mcp/daemon_call.h"

#include "base/format.h"
#include "base/json.h"
#include "mcp/connect_error.h"
#include "protocol/send.h"
#include "text/json_writer.h"

namespace relay::mcp {

using protocol::MessageType;

std::string_view describe(DaemonCallErrc code) {
  switch (code) {
    case DaemonCallErrc::NotSaid: return "the daemon did not hear it";
    case DaemonCallErrc::NoAnswer: return "the daemon did not answer";
  }
  return "";
}

DaemonCall::DaemonCall(net::EventLoop& loop, net::Network& network, std::string socket_path, DaemonRequest order,
                       OnResponse on_answer)
    : loop_{loop},
      network_{network},
      socket_path_{std::move(socket_path)},
      order_{std::move(order)},
      on_answer_{std::move(on_answer)} {}

DaemonCall::~DaemonCall() = default;

void DaemonCall::start() {
  deadline_ = loop_.after(order_.timeout, [this] { finish(unreachable("it did not answer in time")); });
  network_.connect(socket_path_, [this, alive = lifetime_.watch()](Result<std::unique_ptr<net::Stream>> stream) {
    if (alive) on_connected(std::move(stream));
  });
}

Failure DaemonCall::failure(const std::string& sentence) const {
  return fail(said_ ? DaemonCallErrc::NoAnswer : DaemonCallErrc::NotSaid, sentence);
}

Failure DaemonCall::unreachable(std::string_view reason) const {
  return failure(format("the relay's daemon cannot be reached ({}); start it with: agent-relay up", reason));
}

void DaemonCall::on_connected(Result<std::unique_ptr<net::Stream>> stream) {
  if (!stream) return finish(unreachable(connect_error(stream.error())));
  stream_ = *std::move(stream);
  stream_->start(*this);
  if (order_.type == MessageType::Send) return send_request();
  text::JsonWriter hello;
  hello.field("agent", "cli").field("_isSystemComponent", true);
  hello.begin_object("session").optional("system_token", order_.system_token).end();
  hello.begin_object("capabilities").field("ack", false).field("send_ack", true).end();
  const auto payload = hello.take();
  write({.type = MessageType::Hello, .id = order_.id + "-hello", .payload = payload});
}

void DaemonCall::write(const protocol::OutEnvelope& envelope) {
  auto stamped = envelope;
  stamped.ts = loop_.now().wall;
  std::string bytes;
  protocol::append_frame(bytes, reader_.style(), protocol::write_envelope(stamped));
  stream_->write(bytes);
}

void DaemonCall::send_request() {
  said_ = true;
  write({.type = order_.type,
         .id = order_.id,
         .from = order_.from,
         .to = order_.to,
         .topic = order_.topic,
         .claim_token = order_.claim_token,
         .payload = order_.payload,
         .payload_meta = order_.payload_meta});
}

void DaemonCall::on_bytes(std::string_view bytes) {
  reader_.push(bytes);
  const auto alive = lifetime_.watch();
  while (alive && on_answer_) {
    const auto frame = reader_.next();
    if (!frame) return finish(unreachable(frame.error().message()));
    if (!*frame) return;
    if (const auto envelope = protocol::parse_envelope(**frame)) on_frame(*envelope);
  }
}

bool DaemonCall::answers(const protocol::Envelope& envelope) const {
  if (envelope.id == order_.id) return true;
  const auto payload = parse_json_object(envelope.payload);
  if (!payload) return false;
  for (const auto* name : {"ack_id", "nack_id", "replyTo"})
    if (string_member(*payload, name) == order_.id) return true;
  return false;
}

void DaemonCall::on_frame(const protocol::Envelope& envelope) {
  if (envelope.type == MessageType::Ping)
    return write({.type = MessageType::Pong, .id = envelope.id, .payload = envelope.payload});
  if (envelope.type == MessageType::Welcome) return send_request();
  if (envelope.type == MessageType::Error) {
    const auto error = protocol::parse_error(envelope.payload);
    if (error && !error->fatal && !said_) return;
    return finish(failure(format("the daemon refused: {}", error ? error->message : error.error().message())));
  }
  if (said_ && answers(envelope)) finish(DaemonResponse{envelope.type, std::string{envelope.payload}});
}

void DaemonCall::on_closed(const std::string& reason) { finish(unreachable(reason)); }

/// Last: whoever hears it may end the errand.
void DaemonCall::finish(Result<DaemonResponse> answer) {
  if (!on_answer_) return;
  deadline_.reset();
  if (stream_) stream_->close(net::Drain::Yes);
  auto on_answer = std::exchange(on_answer_, nullptr);
  on_answer(std::move(answer));
}

}  // namespace relay::mcp
