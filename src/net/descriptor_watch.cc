#include "net/descriptor_watch.h"

#include <boost/asio/posix/stream_descriptor.hpp>

#include "net/asio_impl.h"

namespace relay::net {

using boost::asio::posix::stream_descriptor;

struct DescriptorWatch::State : std::enable_shared_from_this<State> {
  /// One direction: reading or writing.
  struct Direction {
    stream_descriptor::wait_type kind;
    std::move_only_function<void()> callback;
    bool pending = false;
  };

  State(boost::asio::io_context& io, int fd, std::move_only_function<void()> on_readable,
        std::move_only_function<void()> on_writable)
      : descriptor{io, fd},
        reading{stream_descriptor::wait_read, std::move(on_readable)},
        writing{stream_descriptor::wait_write, std::move(on_writable)} {}

  void request(Direction& direction) {
    if (direction.pending || ended) return;
    direction.pending = true;
    descriptor.async_wait(direction.kind,
                          [self = shared_from_this(), &direction](const boost::system::error_code& error) {
                            direction.pending = false;
                            if (!error && !self->ended) direction.callback();
                          });
  }

  stream_descriptor descriptor;
  Direction reading;
  Direction writing;
  bool ended = false;
};

DescriptorWatch::DescriptorWatch(AsioLoop& loop, int fd, std::move_only_function<void()> on_readable,
                                 std::move_only_function<void()> on_writable)
    : state_{std::make_shared<State>(loop.impl().io, fd, std::move(on_readable), std::move(on_writable))} {}

DescriptorWatch::~DescriptorWatch() {
  state_->ended = true;
  state_->descriptor.release();  // cancels the waits; the owner keeps the descriptor
}

void DescriptorWatch::want_readable() { state_->request(state_->reading); }
void DescriptorWatch::want_writable() { state_->request(state_->writing); }

}  // namespace relay::net
