#include "adapters/display_order.h"

#include <algorithm>

namespace relay::adapters {

std::vector<std::string> DisplayOrder::take(std::string_view message, std::int64_t index, std::string text) {
  auto found = std::ranges::find(messages_, message, &Message::id);
  if (found == messages_.end()) {
    if (messages_.size() >= kMaxMessages) messages_.pop_front();
    found = messages_.insert(messages_.end(), Message{.id = std::string{message}});
  }
  auto& [id, next, held] = *found;
  if (index < next || held.size() >= kMaxHeld) return {};
  held.try_emplace(index, std::move(text));
  std::vector<std::string> ready;
  while (!held.empty() && held.begin()->first == next) {
    ready.push_back(std::move(held.begin()->second));
    held.erase(held.begin());
    ++next;
  }
  return ready;
}

}  // namespace relay::adapters
