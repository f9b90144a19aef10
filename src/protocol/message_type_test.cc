#include "protocol/message_type.h"

#include <gtest/gtest.h>

#include <vector>

namespace relay::protocol {
namespace {

TEST(MessageType, RoundTripsByName) {
  std::vector<MessageType> all;
#define RELAY_COLLECT(name, enumerator, direction)                        \
  EXPECT_EQ(name_of(MessageType::enumerator), #name);                     \
  EXPECT_EQ(parse_message_type(#name), MessageType::enumerator);          \
  EXPECT_EQ(direction_of(MessageType::enumerator), Direction::direction); \
  all.push_back(MessageType::enumerator);
  RELAY_MESSAGE_TYPES(RELAY_COLLECT)
#undef RELAY_COLLECT
  EXPECT_GT(all.size(), 60u);
}

TEST(MessageType, RequiresExactName) {
  for (const auto* other : {"", "send", "SEND ", "SENDX", "SEN", "LIST_CONNECTED_AGENT"}) {
    EXPECT_EQ(parse_message_type(other), std::nullopt) << other;
  }
}

}  // namespace
}  // namespace relay::protocol
