/// Names by their visual skeleton.
///
/// Why: an agent whose name looks like another agent's name gets the trust of that agent.
/// Invariants: each name is in it once.
/// Threading: one thread.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "text/confusables.h"

namespace relay::broker {

class ConfusableNames {
 public:
  void add(const std::string& name) { names_.emplace(text::confusable_skeleton(name), name); }

  void remove(std::string_view name) {
    const auto [first, last] = names_.equal_range(text::confusable_skeleton(name));
    for (auto place = first; place != last; ++place)
      if (place->second == name) return void(names_.erase(place));
  }

  /// The first other name that looks like this one and for which `fits` is true; empty when there is none.
  template <typename Fits>
  [[nodiscard]] std::string_view find(std::string_view name, Fits fits) const {
    const auto [first, last] = names_.equal_range(text::confusable_skeleton(name));
    for (auto place = first; place != last; ++place)
      if (place->second != name && fits(place->second)) return place->second;
    return {};
  }

 private:
  std::unordered_multimap<std::string, std::string> names_;  // by skeleton
};

}  // namespace relay::broker
