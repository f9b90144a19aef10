#include "api/events/event_subscription.h"

#include <charconv>
#include <string_view>

#include "base/comma_list.h"
#include "base/format.h"
#include "events/event.h"
#include "protocol/limits.h"

namespace relay::api {
namespace {

Result<std::int64_t> parse_number(std::string_view name, std::string_view text) {
  std::int64_t number = 0;
  const auto* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, number);
  if (problem != std::errc{} || stop != end || number < 0)
    return fail(format("{} must be a non-negative integer such as 42", name));
  return number;
}

void add_names(std::vector<std::string>& names, std::string_view text) {
  for (const auto name : comma_list(text)) names.emplace_back(name);
}

Result<void> check_list(std::string_view name, const std::vector<std::string>& names, std::size_t max_bytes) {
  if (names.size() > protocol::kMaxEventTypes)
    return fail(format("{} accepts {} names, not {}", name, protocol::kMaxEventTypes, names.size()));
  for (const auto& each : names)
    if (each.size() > max_bytes) return fail(format("{} has a name longer than {} bytes", name, max_bytes));
  return {};
}

}  // namespace

Result<void> check_event_subscription(const EventSubscription& subscription) {
  RELAY_TRY(check_list("types", subscription.types, protocol::kMaxKindBytes));
  RELAY_TRY(check_list("agent", subscription.agents, protocol::kMaxNameBytes));
  RELAY_TRY(check_list("session", subscription.sessions, protocol::kMaxIdBytes));
  for (const auto& type : subscription.types) RELAY_TRY(events::check_type(type));
  return {};
}

Result<EventSubscription> parse_event_subscription(const net::QueryParameters& query, const net::HttpHeaders& headers) {
  EventSubscription subscription;
  for (const auto& [name, value] : query.pairs()) {
    if (name == "types") add_names(subscription.types, value);
    if (name == "agent") add_names(subscription.agents, value);
    if (name == "session") add_names(subscription.sessions, value);
  }
  if (const auto since = query.find("since"); since && !since->empty())
    subscription.since = RELAY_TRY(parse_number("since", *since));
  if (const auto last = headers.find("Last-Event-ID"); last && !last->empty())
    subscription.after = static_cast<std::uint64_t>(RELAY_TRY(parse_number("Last-Event-ID", *last)));
  else if (const auto offset = query.find("offset"); offset && !offset->empty())
    subscription.after = static_cast<std::uint64_t>(RELAY_TRY(parse_number("offset", *offset)));
  RELAY_TRY(check_event_subscription(subscription));
  return subscription;
}

}  // namespace relay::api
