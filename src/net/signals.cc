#include "net/signals.h"

#include <boost/asio/signal_set.hpp>
#include <csignal>

#include "net/asio_impl.h"

namespace relay::net {

struct Signals::State : std::enable_shared_from_this<State> {
  State(boost::asio::io_context& io, std::move_only_function<void(int)> callback)
      : set{io}, on_signal{std::move(callback)} {}

  void wait() {
    set.async_wait([self = shared_from_this()](const boost::system::error_code& error, int number) {
      if (error || self->ended) return;
      self->on_signal(number);
      if (!self->ended) self->wait();
    });
  }

  boost::asio::signal_set set;
  std::move_only_function<void(int)> on_signal;
  bool ended = false;
};

Signals::Signals(AsioLoop& loop, std::initializer_list<int> numbers, std::move_only_function<void(int)> on_signal)
    : state_{std::make_shared<State>(loop.impl().io, std::move(on_signal))} {
  for (const int number : numbers) {
    boost::system::error_code ignored;  // only an invalid number fails, and the numbers are constants
    state_->set.add(number, ignored);
  }
  state_->wait();
}

Signals::~Signals() {
  state_->ended = true;
  boost::system::error_code ignored;
  state_->set.clear(ignored);
  state_->set.cancel(ignored);
}

void ignore_sigpipe() { std::signal(SIGPIPE, SIG_IGN); }

}  // namespace relay::net
