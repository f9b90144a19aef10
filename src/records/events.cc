#include "records/events.h"

#include <algorithm>

namespace relay::records {
namespace {

bool has(const std::vector<std::string>& names, std::string_view name) {
  return names.empty() || std::ranges::find(names, name) != names.end();
}

}  // namespace

bool EventFilter::matches(std::string_view type, std::string_view agent, std::string_view session) const {
  const auto group = type.substr(0, type.find('.'));
  const bool wanted =
      types.empty() || std::ranges::any_of(types, [&](const std::string& one) { return one == type || one == group; });
  return wanted && has(agents, agent) && has(sessions, session);
}

}  // namespace relay::records
