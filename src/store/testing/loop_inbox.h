/// A loop thread's turns in a test: tasks wait until the test runs them.
#pragma once

#include <deque>
#include <functional>
#include <utility>

namespace relay::store {

class LoopInbox {
 public:
  using Task = std::move_only_function<void()>;

  std::function<void(Task)> post() {
    return [this](Task task) { turns_.push_back(std::move(task)); };
  }
  /// False when there was none.
  bool run_one() {
    if (turns_.empty()) return false;
    auto turn = std::move(turns_.front());
    turns_.pop_front();
    turn();
    return true;
  }
  void run_all() {
    while (run_one()) {}
  }
  [[nodiscard]] std::size_t size() const { return turns_.size(); }
  void clear() { turns_.clear(); }

 private:
  std::deque<Task> turns_;
};

}  // namespace relay::store
