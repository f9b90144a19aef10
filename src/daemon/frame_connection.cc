#include "daemon/frame_connection.h"

namespace relay::daemon {

FrameConnection::FrameConnection(ConnectionId id, std::unique_ptr<net::Stream> stream, ConnectionOwner& owner)
    : id_{id}, stream_{std::move(stream)}, owner_{owner} {}

void FrameConnection::start() { stream_->start(*this); }

void FrameConnection::send(std::string_view body) {
  if (state_ == State::Closed) return;
  stream_->write(protocol::frame_header(reader_.style(), body.size()).view());
  stream_->write(body);
}

void FrameConnection::pause() {
  if (state_ != State::Reading) return;
  state_ = State::Paused;
  stream_->pause_reading();
}

void FrameConnection::resume() {
  if (state_ != State::Paused) return;
  state_ = State::Reading;
  stream_->resume_reading();
}

void FrameConnection::parse_buffered() {
  if (parsing_) return;
  parsing_ = true;
  while (state_ == State::Reading) {
    const auto frame = reader_.next();
    if (!frame) {
      state_ = State::Broken;
      owner_.on_bad_stream(id_, frame.error().message());
      break;
    }
    if (!*frame) break;
    owner_.on_frame(id_, **frame);
  }
  parsing_ = false;
}

void FrameConnection::close(net::Drain drain) {
  if (state_ == State::Closed) return;
  state_ = State::Closed;
  stream_->close(drain);
}

void FrameConnection::on_bytes(std::string_view bytes) {
  if (state_ == State::Broken || state_ == State::Closed) return;
  reader_.push(bytes);
  parse_buffered();
}

void FrameConnection::on_written(std::size_t bytes_left) {
  if (state_ != State::Closed) owner_.on_written(id_, bytes_left);
}

void FrameConnection::on_closed(const std::string& reason) {
  if (state_ == State::Closed) return;
  state_ = State::Closed;
  owner_.on_closed(id_, reason);
}

}  // namespace relay::daemon
