#include "net/readable_watch.h"

#include <boost/asio/posix/stream_descriptor.hpp>

#include "net/asio_impl.h"

namespace relay::net {

struct ReadableWatch::State : std::enable_shared_from_this<State> {
  State(boost::asio::io_context& io, int fd, std::move_only_function<void()> callback)
      : descriptor{io, fd}, on_readable{std::move(callback)} {}

  void wait() {
    if (waiting || paused || ended) return;
    waiting = true;
    descriptor.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                          [self = shared_from_this()](const boost::system::error_code& error) {
                            self->waiting = false;
                            if (error || self->ended) return;
                            if (!self->paused) self->on_readable();
                            self->wait();
                          });
  }

  boost::asio::posix::stream_descriptor descriptor;
  std::move_only_function<void()> on_readable;
  bool waiting = false;
  bool paused = false;
  bool ended = false;
};

ReadableWatch::ReadableWatch(AsioLoop& loop, int fd, std::move_only_function<void()> on_readable)
    : state_{std::make_shared<State>(loop.impl().io, fd, std::move(on_readable))} {
  state_->wait();
}

ReadableWatch::~ReadableWatch() {
  state_->ended = true;
  state_->descriptor.release();  // cancels the wait; the owner keeps the descriptor
}

void ReadableWatch::pause() { state_->paused = true; }

void ReadableWatch::resume() {
  state_->paused = false;
  state_->wait();
}

}  // namespace relay::net
