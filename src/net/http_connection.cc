#include "net/http_connection.h"

#include <sys/socket.h>

#include <charconv>
#include <cstring>

#include "base/format.h"
#include "base/log.h"
#include "net/asio_loop.h"
#include "net/response_head.h"

namespace relay::net {
namespace {

constexpr std::size_t kMaxReadAhead = 64U * 1024U;  // while a request is handled, or its response is pending
constexpr std::size_t kMaxDiscardedBytes =
    4U * 1024U * 1024U;                             // of a client that keeps sending after its connection is closing
constexpr std::size_t kMaxInlineBody = 4U * 1024U;  // a smaller body is copied behind its header
constexpr std::size_t kMaxLoggedPath = 200;

struct ErrorStatus {
  int status;
  std::string_view code;
};

ErrorStatus status_of(const Error& error) {
  if (is(error, RequestErrc::HeadersTooLarge)) return {431, "HEADERS_TOO_LARGE"};
  if (is(error, RequestErrc::BodyTooLarge)) return {413, "BODY_TOO_LARGE"};
  if (is(error, RequestErrc::UnknownExpectation)) return {417, "UNKNOWN_EXPECTATION"};
  return {400, "BAD_REQUEST"};
}

}  // namespace

HttpConnection::HttpConnection(HttpServerCore& core, UniqueFd socket, HttpPeer peer)
    : core_{&core},
      socket_{std::move(socket)},
      peer_{std::move(peer)},
      watch_{std::make_unique<DescriptorWatch>(
          core.loop(), socket_.get(), [this] { on_readable(); }, [this] { on_writable(); })},
      reader_{core.limits().header_bytes, core.limits().body_bytes} {}

void HttpConnection::start() {
  expect_more();
  want_read();
}

void HttpConnection::refuse(ServerResponse response) {
  version_ = HttpVersion::Http11;
  keep_alive_ = KeepAlive::No;
  head_only_ = false;
  phase_ = Phase::Answering;
  send(std::move(response));
}

// ---- reading

void HttpConnection::on_readable() {
  const auto self = shared_from_this();
  auto& buffer = core_->read_buffer();
  const ssize_t count = ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return want_read();
  if (count < 0) return abort(format("the connection broke: {}", std::strerror(errno)));
  if (count == 0) return on_end_of_input();
  const std::string_view bytes{buffer.data(), static_cast<std::size_t>(count)};
  switch (phase_) {
    case Phase::Reading:
      reader_.add(bytes);
      read_requests();
      break;
    case Phase::Answering:
    case Phase::Streaming: reader_.add(bytes); break;
    case Phase::WebSocket:
      frames_->reader.add(bytes);
      frames_->last_activity = core_->now();
      frames_->ping_pending = false;
      read_frames();
      break;
    case Phase::Closing:
      discarded_bytes_ += bytes.size();
      if (discarded_bytes_ > kMaxDiscardedBytes) return shut();
      break;
    case Phase::Closed: return;
  }
  want_read();
}

/// The client sends no more. Its earlier requests are still answered; a stream or a WebSocket ends.
void HttpConnection::on_end_of_input() {
  input_ended_ = true;
  switch (phase_) {
    case Phase::Reading: return read_requests();
    case Phase::Answering: return;
    case Phase::Streaming:
    case Phase::WebSocket: return abort("the client closed the connection");
    case Phase::Closing:
      if (half_closed_) shut();
      return;
    case Phase::Closed: return;
  }
}

void HttpConnection::want_read() {
  if (phase_ == Phase::Closed || input_ended_) return;
  const bool buffers = phase_ != Phase::WebSocket && phase_ != Phase::Closing;
  const auto max = std::max(kMaxReadAhead, core_->limits().header_bytes + 1);
  if (!buffers || reader_.buffered_bytes() < max) watch_->want_readable();
}

/// Handles the received requests in order; continues once the response is sent.
void HttpConnection::read_requests() {
  while (phase_ == Phase::Reading && flush_now()) {
    auto next = reader_.next();
    if (!next) return refuse_request(next.error());
    if (*next) {
      handle(**std::move(next));
      continue;
    }
    if (input_ended_) return close_soon();
    if (core_->closing() && reader_.position() == RequestReader::ParsePosition::Nothing) return close_soon();
    if (reader_.take_continue()) {
      out_.push("HTTP/1.1 100 Continue\r\n\r\n");
      want_flush();
    }
    expect_more();
    return want_read();
  }
}

void HttpConnection::handle(ReceivedRequest received) {
  auto& request = received.request;
  phase_ = Phase::Answering;
  ++transaction_;
  ++requests_;
  expecting_.reset();
  set_deadline(SteadyTime::max());
  request_line_ = request.method + " " + request.path.substr(0, kMaxLoggedPath);
  version_ = received.version;
  keep_alive_ = received.keep_alive;
  head_only_ = request.method == "HEAD";
  websocket_requested_ = requests_websocket(request);
  websocket_key_ = version_ == HttpVersion::Http11 ? websocket_key(request).value_or("") : "";
  request.peer = peer_;
  core_->handle(std::move(request), ResponseWriter{HttpTransaction{shared_from_this()}});
}

void HttpConnection::refuse_request(const Error& error) {
  const auto [status, code] = status_of(error);
  refuse(error_response(status, code, error.message()));
}

/// Sets the deadline for the next expected element, if the expected element changed.
void HttpConnection::expect_more() {
  const auto position = reader_.position();
  if (expecting_ == position) return;
  expecting_ = position;
  const auto& limits = core_->limits();
  const auto header = core_->is_untrusted(peer_) ? limits.untrusted_header : limits.header;
  switch (position) {
    case RequestReader::ParsePosition::Nothing:
      return set_deadline(core_->now() + (requests_ == 0 ? header : limits.idle));
    case RequestReader::ParsePosition::Header: return set_deadline(core_->now() + header);
    case RequestReader::ParsePosition::Body: return set_deadline(core_->now() + limits.body);
  }
}

// ---- answering

bool HttpConnection::sends_no_body(int status) const { return head_only_ || has_no_body(status); }

void HttpConnection::send(ServerResponse response) {
  RELAY_ASSERT(phase_ == Phase::Answering);
  if (core_->closing() || input_ended_ || response.last) keep_alive_ = KeepAlive::No;
  const auto encode_head = [&] {
    const auto kind = has_no_body(response.status) ? Framing::Kind::NoBody : Framing::Kind::Length;
    return response_head(response, {kind, response.body.size()}, version_, keep_alive_);
  };
  auto head = encode_head();
  if (!head) {
    log::error("cannot write an HTTP response", {{"request", request_line_}, {"reason", head.error().message()}});
    response = error_response(500, "INTERNAL", "the response could not be written; the log has the reason");
    head = encode_head();
  }
  if (sends_no_body(response.status)) {
    out_.push(*std::move(head));
  } else if (response.body.size() <= kMaxInlineBody) {
    out_.push(*std::move(head) += response.body);
  } else {
    out_.push(*std::move(head));
    out_.push(std::move(response.body));
  }
  end_transaction();
}

bool HttpConnection::start_stream(ServerResponse head, BodyListener& listener) {
  RELAY_ASSERT(phase_ == Phase::Answering);
  const bool no_body = sends_no_body(head.status);
  chunked_ = version_ == HttpVersion::Http11 && !no_body;
  if (core_->closing() || input_ended_ || (!chunked_ && !no_body)) keep_alive_ = KeepAlive::No;
  const auto kind = has_no_body(head.status)          ? Framing::Kind::NoBody
                    : version_ == HttpVersion::Http11 ? Framing::Kind::Chunks
                                                      : Framing::Kind::Close;
  auto text = response_head(head, {kind}, version_, keep_alive_);
  if (!text) {
    send(std::move(head));  // which reports the error
    return false;
  }
  phase_ = Phase::Streaming;
  head_only_ = no_body;
  listener_ = &listener;
  out_.push(*std::move(text));
  want_flush();
  if (!head.body.empty()) write_chunk(make_shared_buffer(std::move(head.body)));
  return true;
}

void HttpConnection::write_chunk(SharedBuffer chunk) {
  if (phase_ != Phase::Streaming || head_only_ || !chunk || chunk->empty()) return;
  if (out_.bytes() > core_->limits().waiting_bytes) overflowed_ = true;
  want_flush();
  if (overflowed_) return;
  if (!chunked_) return out_.push({}, std::move(chunk));
  char frame[WriteQueue::kMaxFrameBytes];
  char* end = std::to_chars(std::begin(frame), std::end(frame) - 2, chunk->size(), 16).ptr;
  *end++ = '\r';
  *end++ = '\n';
  out_.push({frame, end}, std::move(chunk), "\r\n");
}

void HttpConnection::finish_stream() {
  if (chunked_) out_.push("0\r\n\r\n");
  end_transaction();
}

/// The response is complete: the next request follows, or the connection closes. Reading waits for the flush.
void HttpConnection::end_transaction() {
  listener_ = nullptr;
  if (keep_alive_ == KeepAlive::No || core_->closing()) return close_soon();
  ++transaction_;
  phase_ = Phase::Reading;
  want_flush();
}

// ---- writing

void HttpConnection::want_flush() {
  if (std::exchange(dirty_, true)) return;
  core_->mark_dirty(shared_from_this());
}

void HttpConnection::flush() {
  const auto self = shared_from_this();
  dirty_ = false;
  if (phase_ == Phase::Closed) return;
  if (overflowed_) return abort(format("the client reads too slowly: {} bytes are pending", out_.bytes()));
  if (flush_now()) on_drained();
}

void HttpConnection::on_writable() {
  socket_is_full_ = false;
  flush();
}

/// True when nothing is pending. May end the connection.
bool HttpConnection::flush_now() {
  const auto before = out_.bytes();
  if (before == 0) return true;
  if (socket_is_full_) return false;
  switch (out_.flush(socket_.get())) {
    case WriteQueue::State::Drained: set_write_deadline(SteadyTime::max()); return true;
    case WriteQueue::State::Broken: abort("the client closed the connection"); return false;
    case WriteQueue::State::Waiting: break;
  }
  if (out_.bytes() < before || write_deadline_ == SteadyTime::max())
    set_write_deadline(core_->now() + core_->limits().write);
  socket_is_full_ = true;
  watch_->want_writable();
  return false;
}

void HttpConnection::on_drained() {
  switch (phase_) {
    case Phase::Reading: return read_requests();
    case Phase::Answering: return;
    case Phase::Streaming:
      if (head_only_) return end_head_only();
      if (input_ended_) return on_end_of_input();
      return listener_->on_drained();
    case Phase::WebSocket:
      if (input_ended_) return on_end_of_input();
      read_frames();  // frames that arrived with the request
      if (phase_ == Phase::WebSocket && out_.bytes() == 0) listener_->on_drained();
      return;
    case Phase::Closing: return half_close();
    case Phase::Closed: return;
  }
}

void HttpConnection::end_head_only() {
  auto* listener = listener_;
  end_transaction();
  listener->on_closed("the client requested the head only");
}

// ---- the end

void HttpConnection::close_soon() {
  listener_ = nullptr;
  ++transaction_;
  phase_ = Phase::Closing;
  set_deadline(SteadyTime::max());  // write_deadline_ bounds the closing
  want_flush();
}

void HttpConnection::half_close() {
  if (input_ended_) return shut();
  if (half_closed_) return;
  half_closed_ = true;
  ::shutdown(socket_.get(), SHUT_WR);
  set_deadline(core_->now() + core_->limits().linger);
  want_read();
}

void HttpConnection::close_after_response() {
  const bool idle = phase_ == Phase::Reading && reader_.position() == RequestReader::ParsePosition::Nothing;
  if (idle) close_soon();
}

void HttpConnection::abort(const std::string& reason) {
  auto* listener = std::exchange(listener_, nullptr);
  shut();
  if (listener != nullptr) listener->on_closed(reason);
}

void HttpConnection::shut() {
  if (phase_ == Phase::Closed) return;
  phase_ = Phase::Closed;
  ++transaction_;
  listener_ = nullptr;
  phase_deadline_ = write_deadline_ = SteadyTime::max();
  watch_.reset();
  socket_.reset();
  out_.clear();
  frames_.reset();
  std::exchange(core_, nullptr)->forget(*this);
}

// ---- time

void HttpConnection::set_deadline(SteadyTime when) {
  phase_deadline_ = when;
  if (when != SteadyTime::max()) core_->wait_until(when);
}

void HttpConnection::set_write_deadline(SteadyTime when) {
  write_deadline_ = when;
  if (when != SteadyTime::max()) core_->wait_until(when);
}

void HttpConnection::on_deadline(SteadyTime now) {
  if (write_deadline_ <= now) {
    const auto self = shared_from_this();
    const auto before = out_.bytes();
    socket_is_full_ = false;  // this loop may be late: count what the client has read meanwhile
    flush();
    if (phase_ == Phase::Closed || out_.bytes() < before) return;
    return abort("the client does not read");
  }
  switch (phase_) {
    case Phase::Reading:
      if (reader_.position() == RequestReader::ParsePosition::Nothing) return close_soon();
      return refuse(error_response(408, "REQUEST_TIMEOUT", "the request was not complete in time"));
    case Phase::WebSocket: return check_peer(now);
    case Phase::Closing: return shut();
    case Phase::Answering:
    case Phase::Streaming:
    case Phase::Closed: return;
  }
}

}  // namespace relay::net
