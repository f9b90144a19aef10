/// The task queue of a loop thread in a test: the test runs its tasks. Any thread may post.
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
        tasks_.push_back(std::move(task));
      }
      changed_.notify_one();
    };
  }
  /// False when the queue is empty.
  bool run_one() {
    std::unique_lock lock{mutex_};
    return run_front(lock);
  }
  /// Waits for a task and runs it.
  void wait_one() {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return !tasks_.empty(); });
    run_front(lock);
  }
  void run_all() {
    while (run_one()) {}
  }
  std::size_t size() {
    const std::lock_guard lock{mutex_};
    return tasks_.size();
  }
  void clear() {
    const std::lock_guard lock{mutex_};
    tasks_.clear();
  }

 private:
  bool run_front(std::unique_lock<std::mutex>& lock) {
    if (tasks_.empty()) return false;
    auto task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    return true;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
};

}  // namespace relay::store
