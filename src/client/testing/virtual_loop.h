/// An event loop with a manual clock: tasks run in order as the clock passes their time, in one thread, without
/// sleeping.
///
/// Invariants: tasks due at the same time run in the order they were added; nothing runs inside `post` or `at`. The
///   wall clock may be set without changing the steady clock.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "net/event_loop.h"

namespace relay::client::testing {

class VirtualLoop final : public net::EventLoop {
 public:
  static constexpr WallMs kFirstWall = 1'734'440'000'000;

  [[nodiscard]] Timestamp now() const override {
    const auto since = std::chrono::duration_cast<Millis>(now_.time_since_epoch()).count();
    return {now_, kFirstWall + since + wall_jump_};
  }
  void post(net::Task task) override { put(now_, std::move(task)); }
  [[nodiscard]] std::unique_ptr<net::Timer> at(SteadyTime when, net::Task task) override {
    return std::make_unique<Handle>(*this, put(std::max(when, now_), std::move(task)));
  }

  /// Like `after`, without a handle: nothing cancels it.
  void call_after(std::chrono::nanoseconds delay, net::Task task) { put(now_ + delay, std::move(task)); }

  /// Runs the next task, moving the clock to it; false if no task is due until then.
  bool step(SteadyTime until = SteadyTime::max()) {
    if (queue_->empty() || queue_->begin()->first.first > until) return false;
    auto node = queue_->extract(queue_->begin());
    now_ = std::max(now_, node.key().first);
    node.mapped()();
    return true;
  }
  /// Runs everything that is due within `span`; the clock is then at its end.
  void advance(Millis span) {
    const auto until = now_ + span;
    while (step(until)) {}
    now_ = until;
  }
  void run_now() { advance(Millis{0}); }

  void jump_wall(std::int64_t by_ms) { wall_jump_ += by_ms; }
  [[nodiscard]] std::size_t waiting() const { return queue_->size(); }

 private:
  using Place = std::pair<SteadyTime, std::uint64_t>;
  using Queue = std::map<Place, net::Task>;

  class Handle final : public net::Timer {
   public:
    Handle(VirtualLoop& loop, Place ref) : queue_{loop.queue_}, place_{ref} {}
    ~Handle() override {
      if (const auto queue = queue_.lock()) (void)queue->extract(place_);
    }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;

   private:
    std::weak_ptr<Queue> queue_;  // a handle may outlive the loop in a test that ends early
    Place place_;
  };

  Place put(SteadyTime when, net::Task task) {
    const Place ref{when, next_++};
    queue_->emplace(ref, std::move(task));
    return ref;
  }

  SteadyTime now_{std::chrono::seconds{1'000}};
  std::int64_t wall_jump_ = 0;
  std::uint64_t next_ = 0;
  std::shared_ptr<Queue> queue_ = std::make_shared<Queue>();
};

}  // namespace relay::client::testing
