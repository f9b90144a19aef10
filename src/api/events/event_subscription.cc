#include "api/events/event_subscription.h"

#include <charconv>
#include <string_view>

#include "base/comma_list.h"
#include "base/format.h"
#include "events/event.h"
#include "protocol/limits.h"

namespace relay::api {
namespace {

Result<std::int64_t> number_in(std::string_view name, std::string_view text) {
  std::int64_t number = 0;
  const auto* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, number);
  if (problem != std::errc{} || stop != end || number < 0)
    return fail(format("{} must be a whole number that is not negative, such as 42", name));
  return number;
}

void add_words(std::vector<std::string>& words, std::string_view text) {
  for (const auto word : comma_list(text)) words.emplace_back(word);
}

Result<void> check_list(std::string_view name, const std::vector<std::string>& words, std::size_t max_bytes) {
  if (words.size() > protocol::kMaxEventTypes)
    return fail(format("{} may name {} things, these are {}", name, protocol::kMaxEventTypes, words.size()));
  for (const auto& word : words)
    if (word.size() > max_bytes) return fail(format("{} has a name of more than {} bytes", name, max_bytes));
  return {};
}

}  // namespace

Result<void> check_event_wish(const EventSubscription& wish) {
  RELAY_TRY(check_list("types", wish.types, protocol::kMaxKindBytes));
  RELAY_TRY(check_list("agent", wish.agents, protocol::kMaxNameBytes));
  RELAY_TRY(check_list("session", wish.sessions, protocol::kMaxIdBytes));
  for (const auto& type : wish.types) RELAY_TRY(events::check_type(type));
  return {};
}

Result<EventSubscription> read_event_wish(const net::QueryParameters& query, const net::HttpHeaders& headers) {
  EventSubscription wish;
  for (const auto& [name, value] : query.pairs()) {
    if (name == "types") add_words(wish.types, value);
    if (name == "agent") add_words(wish.agents, value);
    if (name == "session") add_words(wish.sessions, value);
  }
  if (const auto since = query.find("since"); since && !since->empty())
    wish.since = RELAY_TRY(number_in("since", *since));
  if (const auto last = headers.find("Last-Event-ID"); last && !last->empty())
    wish.after = static_cast<std::uint64_t>(RELAY_TRY(number_in("Last-Event-ID", *last)));
  else if (const auto offset = query.find("offset"); offset && !offset->empty())
    wish.after = static_cast<std::uint64_t>(RELAY_TRY(number_in("offset", *offset)));
  RELAY_TRY(check_event_wish(wish));
  return wish;
}

}  // namespace relay::api
