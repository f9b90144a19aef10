/// Names seen before, the newest so many of them: told once, without growing for ever.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_set>

namespace relay::adapters {

class Remembered {
 public:
  static constexpr std::size_t kMost = 4'096;

  [[nodiscard]] bool has(std::string_view name) const { return names_.contains(std::string{name}); }

  /// False when it was known already.
  bool add(std::string_view name) {
    if (!names_.emplace(name).second) return false;
    order_.emplace_back(name);
    if (order_.size() > kMost) {
      names_.erase(order_.front());
      order_.pop_front();
    }
    return true;
  }

 private:
  std::unordered_set<std::string> names_;
  std::deque<std::string> order_;
};

}  // namespace relay::adapters
