#include "base/format.h"
#include "base/log.h"
#include "net/http_connection.h"
#include "net/response_head.h"

namespace relay::net {
namespace {

constexpr int kMaxControlFrames = 64;  // max pings and pongs of a client within kControlFramesPeriod
constexpr Millis kControlFramesPeriod{10'000};

}  // namespace

bool HttpConnection::start_websocket(WebSocketListener& listener, std::string_view protocol) {
  RELAY_ASSERT(phase_ == Phase::Answering);
  if (websocket_key_.empty()) {
    auto response =
        websocket_requested_
            ? error_response(400, "BAD_REQUEST", "the handshake is not WebSocket version 13")
            : error_response(426, "UPGRADE_REQUIRED", "this address serves a WebSocket; send an upgrade request");
    response.headers = {{"Upgrade", "websocket"}};
    send(std::move(response));
    return false;
  }
  auto head = websocket_head(websocket_key_, protocol);
  if (!head) {
    log::error("cannot accept a WebSocket", {{"request", request_line_}, {"reason", head.error().message()}});
    send(error_response(500, "INTERNAL", "the response could not be written; the log has the reason"));
    return false;
  }
  phase_ = Phase::WebSocket;
  listener_ = &listener;
  frames_ = std::make_unique<Frames>(core_->limits().body_bytes);
  frames_->listener = &listener;
  frames_->last_activity = frames_->counting_since = core_->now();
  frames_->reader.add(reader_.take_buffered());
  out_.push(*std::move(head));
  set_deadline(frames_->last_activity + core_->limits().ping);
  want_flush();
  want_read();
  return true;
}

void HttpConnection::write_message(Opcode opcode, SharedBuffer payload) {
  if (phase_ != Phase::WebSocket) return;
  if (out_.bytes() > core_->limits().waiting_bytes) overflowed_ = true;
  want_flush();
  if (overflowed_) return;
  const auto head = frame_head(opcode, payload ? payload->size() : 0);
  out_.push(head.view(), std::move(payload));
}

void HttpConnection::close_websocket(std::uint16_t code, std::string_view reason) {
  out_.push(close_frame(is_close_code(code) ? code : WebSocket::kNormalClosure, reason));
  close_soon();
}

void HttpConnection::read_frames() {
  while (phase_ == Phase::WebSocket) {
    const auto next = frames_->reader.next();
    if (!next) return refuse_frames(next.error());
    if (!*next) return;
    on_message(**next);
  }
}

void HttpConnection::on_message(const WebSocketMessage& message) {
  if (message.kind == Opcode::Text) return frames_->listener->on_text(message.payload);
  if (message.kind == Opcode::Close) {
    const bool silent = message.close_code == WebSocketReader::kNoCloseCode;
    return end_websocket(silent ? WebSocket::kNormalClosure : message.close_code, message.payload,
                         format("the client closed the WebSocket ({}{}{})", message.close_code,
                                message.payload.empty() ? "" : ": ", message.payload));
  }
  const auto now = core_->now();
  if (now - frames_->counting_since > kControlFramesPeriod) {
    frames_->counting_since = now;
    frames_->control_frames = 0;
  }
  if (++frames_->control_frames > kMaxControlFrames)
    return refuse_frames(fail(WebSocketErrc::Policy, "the client sends too many pings").error());
  if (message.kind == Opcode::Ping) write_message(Opcode::Pong, make_shared_buffer(message.payload));
}

void HttpConnection::refuse_frames(const Error& error) {
  end_websocket(static_cast<std::uint16_t>(error.code().value()), error.message(), error.message());
}

void HttpConnection::end_websocket(std::uint16_t code, std::string_view close_reason, const std::string& reason) {
  auto* listener = listener_;
  close_websocket(code, close_reason);
  listener->on_closed(reason);
}

void HttpConnection::check_peer(SteadyTime now) {
  const auto timeout = core_->limits().ping;
  if (!frames_->ping_pending && now - frames_->last_activity < timeout)
    return set_deadline(frames_->last_activity + timeout);
  // A ping would queue behind the pending bytes; write_deadline_ bounds those.
  if (out_.bytes() > 0) return set_deadline(now + timeout);
  if (frames_->ping_pending) return abort("the client does not answer a ping");
  frames_->ping_pending = true;
  write_message(Opcode::Ping, nullptr);
  set_deadline(now + timeout);
}

}  // namespace relay::net
