#include "host/intent.h"

#include <gtest/gtest.h>

#include "client/testing/memory_directory.h"

namespace relay::host {
namespace {

TEST(Intent, IsFoundByTheNextOneUntilItIsCleared) {
  client::testing::MemoryDirectory disk;
  EXPECT_EQ(Intent(disk, "Bob.intent").left_behind().value(), "");
  ASSERT_TRUE(Intent(disk, "Bob.intent").note("d-7kq2m9xa"));
  EXPECT_EQ(Intent(disk, "Bob.intent").left_behind().value(), "d-7kq2m9xa");
  ASSERT_TRUE(Intent(disk, "Bob.intent").clear());
  EXPECT_EQ(Intent(disk, "Bob.intent").left_behind().value(), "");
}

}  // namespace
}  // namespace relay::host
