#include "net/descriptor_watch.h"

#include <boost/asio/posix/stream_descriptor.hpp>

#include "net/asio_impl.h"

namespace relay::net {

using boost::asio::posix::stream_descriptor;

struct DescriptorWatch::State : std::enable_shared_from_this<State> {
  /// One of the two questions: may I read, may I write.
  struct Side {
    stream_descriptor::wait_type kind;
    std::move_only_function<void()> callback;
    bool asked = false;
  };

  State(boost::asio::io_context& io, int fd, std::move_only_function<void()> on_readable,
        std::move_only_function<void()> on_writable)
      : descriptor{io, fd},
        reading{stream_descriptor::wait_read, std::move(on_readable)},
        writing{stream_descriptor::wait_write, std::move(on_writable)} {}

  void ask(Side& side) {
    if (side.asked || ended) return;
    side.asked = true;
    descriptor.async_wait(side.kind, [self = shared_from_this(), &side](const boost::system::error_code& error) {
      side.asked = false;
      if (!error && !self->ended) side.callback();
    });
  }

  stream_descriptor descriptor;
  Side reading;
  Side writing;
  bool ended = false;
};

DescriptorWatch::DescriptorWatch(AsioLoop& loop, int fd, std::move_only_function<void()> on_readable,
                                 std::move_only_function<void()> on_writable)
    : state_{std::make_shared<State>(loop.impl().io, fd, std::move(on_readable), std::move(on_writable))} {}

DescriptorWatch::~DescriptorWatch() {
  state_->ended = true;
  state_->descriptor.release();  // cancels the waits; the descriptor stays its owner's
}

void DescriptorWatch::want_readable() { state_->ask(state_->reading); }
void DescriptorWatch::want_writable() { state_->ask(state_->writing); }

}  // namespace relay::net
