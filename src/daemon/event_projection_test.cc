#include "daemon/event_projection.h"

#include <gtest/gtest.h>

namespace relay::daemon {
namespace {

using namespace std::chrono_literals;

TEST(EventProjection, UsesATenthOfTheTimeWhileMessagesAreCommitted) {
  EXPECT_EQ(pause_after_page(100ms, 0ms), 900ms);
  EXPECT_EQ(pause_after_page(1ms, 10ms), 200ms) << "events within it are written together";
}

TEST(EventProjection, DoesNotPauseOnceNothingIsCommitted) {
  EXPECT_EQ(pause_after_page(100ms, 250ms), 0ms);
  EXPECT_EQ(pause_after_page(5ms, 60s), 0ms);
}

}  // namespace
}  // namespace relay::daemon
