/// Any query string and Last-Event-ID: a subscription within the bounds of the wire, or an error. The first line is the
/// query, the second the header.
#include "api/events/event_subscription.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "check.h"
#include "events/event.h"
#include "protocol/limits.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace relay;
  const std::string_view text{reinterpret_cast<const char*>(bytes), size};
  const auto end = text.find('\n');
  const auto query = net::QueryParameters::parse(text.substr(0, end));
  if (!query) return 0;
  net::HttpHeaders headers;
  if (end != std::string_view::npos) headers.add("Last-Event-ID", std::string{text.substr(end + 1)});
  const auto subscription = api::parse_event_subscription(*query, headers);
  FUZZ_CHECK(subscription || !subscription.error().message().empty());
  if (!subscription) return 0;
  FUZZ_CHECK(subscription->types.size() <= protocol::kMaxEventTypes &&
             subscription->agents.size() <= protocol::kMaxEventTypes);
  for (const auto& type : subscription->types) FUZZ_CHECK(events::check_type(type));
  for (const auto& agent : subscription->agents) FUZZ_CHECK(!agent.empty() && agent.size() <= protocol::kMaxNameBytes);
  for (const auto& session : subscription->sessions)
    FUZZ_CHECK(!session.empty() && session.size() <= protocol::kMaxIdBytes);
  FUZZ_CHECK(!subscription->after || *subscription->after <= INT64_MAX);
  FUZZ_CHECK(!subscription->since || *subscription->since >= 0);
  return 0;
}
