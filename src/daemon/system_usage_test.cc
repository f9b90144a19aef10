#include "daemon/system_usage.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace relay::daemon {
namespace {

TEST(SystemUsage, ReadsThisProcessAndThisMachine) {
  EXPECT_GT(usage_of_process(::getpid()).rss_bytes, 0u);
  const auto machine = usage_of_machine();
  EXPECT_GT(machine.total_memory, machine.own_memory);
  EXPECT_GT(machine.free_memory, 0u);
}

TEST(SystemUsage, IsZeroForAnEndedProcess) {
  EXPECT_EQ(usage_of_process(0).rss_bytes, 0u);
  EXPECT_EQ(usage_of_process(0x7FFFFFFF).rss_bytes, 0u);
}

}  // namespace
}  // namespace relay::daemon
