#include "api/events/event_subscription.h"

#include <gtest/gtest.h>

namespace relay::api {
namespace {

Result<EventSubscription> subscription(std::string_view query, std::string_view last_id = {}) {
  net::HttpHeaders headers;
  if (!last_id.empty()) headers.add("last-event-id", std::string{last_id});
  return parse_event_subscription(net::QueryParameters::parse(query).value(), headers);
}

TEST(EventSubscription, DefaultsToAllEventsFromNowOn) { EXPECT_EQ(subscription("").value(), EventSubscription{}); }

TEST(EventSubscription, SplitsListsAtCommas) {
  EXPECT_EQ(
      subscription("types=item.started,message&agent=Alice&types=,session.ended,&workspace=p&session=s-1").value(),
      (EventSubscription{
          .types = {"item.started", "message", "session.ended"}, .agents = {"Alice"}, .sessions = {"s-1"}}));
}

TEST(EventSubscription, StartsAfterANumberOrAtATime) {
  EXPECT_EQ(subscription("offset=42").value().after, 42u);
  EXPECT_EQ(subscription("offset=0").value().after, 0u);
  EXPECT_EQ(subscription("since=1707523200000").value().since, 1707523200000);
  EXPECT_EQ(subscription("since=&offset=").value(), EventSubscription{});
}

TEST(EventSubscription, LastEventIdTakesPrecedenceOverOffset) {
  EXPECT_EQ(subscription("offset=42", "99").value().after, 99u);
  EXPECT_EQ(subscription("", "7").value().after, 7u);
}

TEST(EventSubscription, RejectsInvalidValues) {
  EXPECT_EQ(subscription("offset=-1").error().message(), "offset must be a non-negative integer such as 42");
  EXPECT_EQ(subscription("since=1e3").error().message(), "since must be a non-negative integer such as 42");
  EXPECT_FALSE(subscription("offset=99999999999999999999"));
  EXPECT_FALSE(subscription("", "4x"));
  EXPECT_TRUE(subscription("types=item.opened")
                  .error()
                  .message()
                  .starts_with("\"item.opened\" is not a type of event; there are "));
  EXPECT_FALSE(subscription("agent=" + std::string(200, 'a')));
  std::string many = "agent=a";
  for (int i = 0; i < 256; ++i) many += ",a";
  EXPECT_EQ(subscription(many).error().message(), "agent accepts 256 names, not 257");
}

}  // namespace
}  // namespace relay::api
