#include "net/asio_loop.h"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <iterator>
#include <utility>

#include "net/asio_impl.h"

namespace relay::net {
namespace {

/// A task that a task posts runs in the same turn, up to this depth: the daemon stores, acknowledges and writes a
/// message without polling descriptors in between. The bound keeps a task that reposts itself from starving the rest.
constexpr int kRoundsPerTurn = 4;

/// Shared with the pending wait, because Asio may already have queued the expiry when the handle dies.
struct TimerState {
  explicit TimerState(boost::asio::io_context& io) : timer{io} {}
  boost::asio::steady_timer timer;
  Task task;  // empty once fired or cancelled
};

class AsioTimer final : public Timer {
 public:
  AsioTimer(boost::asio::io_context& io, SteadyTime when, Task task) : state_{std::make_shared<TimerState>(io)} {
    state_->task = std::move(task);
    state_->timer.expires_at(when);
    state_->timer.async_wait([state = state_](const boost::system::error_code& error) {
      if (error || !state->task) return;
      auto due = std::exchange(state->task, nullptr);
      due();
    });
  }

  ~AsioTimer() override {
    state_->task = nullptr;
    state_->timer.cancel();
  }

  AsioTimer(const AsioTimer&) = delete;
  AsioTimer& operator=(const AsioTimer&) = delete;

 private:
  std::shared_ptr<TimerState> state_;
};

}  // namespace

AsioLoop::AsioLoop() : impl_{std::make_unique<Impl>()} { impl_->busy.emplace(impl_->io.get_executor()); }
AsioLoop::~AsioLoop() = default;

Timestamp AsioLoop::now() const { return SystemClock{}.now(); }

void AsioLoop::post(Task task) {
  if (impl_->io.get_executor().running_in_this_thread()) return impl_->post_here(std::move(task));
  boost::asio::post(impl_->io, std::move(task));
}

void AsioLoop::Impl::post_here(Task task) {
  tasks_.push_back(std::move(task));
  if (!std::exchange(posted_, true)) boost::asio::post(io, [this] { run_tasks(); });
}

void AsioLoop::Impl::run_tasks() {
  for (int round = 0; round < kRoundsPerTurn && !tasks_.empty() && !io.stopped(); ++round) {
    auto batch = std::exchange(tasks_, {});
    auto task = batch.begin();
    while (task != batch.end() && !io.stopped()) std::exchange(*task++, nullptr)();
    tasks_.insert(tasks_.begin(), std::make_move_iterator(task), std::make_move_iterator(batch.end()));
  }
  posted_ = !tasks_.empty();
  if (posted_) boost::asio::post(io, [this] { run_tasks(); });
}

std::unique_ptr<Timer> AsioLoop::at(SteadyTime when, Task task) {
  return std::make_unique<AsioTimer>(impl_->io, when, std::move(task));
}

void AsioLoop::run() {
  impl_->io.restart();
  impl_->io.run();
}

void AsioLoop::stop() { impl_->io.stop(); }

void AsioLoop::finish() { impl_->busy.reset(); }

}  // namespace relay::net
