/// The task queue of a loop thread in a test: tasks wait until the test runs them. Any thread may post.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <utility>

namespace relay::store {

class TaskQueue {
 public:
  using Task = std::move_only_function<void()>;

  std::function<void(Task)> post() {
    return [this](Task task) {
      {
        const std::lock_guard lock{mutex_};
        turns_.push_back(std::move(task));
      }
      changed_.notify_one();
    };
  }
  /// False when there was none.
  bool run_one() {
    std::unique_lock lock{mutex_};
    return run_front(lock);
  }
  /// Waits for it.
  void wait_one() {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return !turns_.empty(); });
    run_front(lock);
  }
  void run_all() {
    while (run_one()) {}
  }
  std::size_t size() {
    const std::lock_guard lock{mutex_};
    return turns_.size();
  }
  void clear() {
    const std::lock_guard lock{mutex_};
    turns_.clear();
  }

 private:
  bool run_front(std::unique_lock<std::mutex>& lock) {
    if (turns_.empty()) return false;
    auto turn = std::move(turns_.front());
    turns_.pop_front();
    lock.unlock();
    turn();
    return true;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> turns_;
};

}  // namespace relay::store
