#include "mcp/name_slot.h"

#include <gtest/gtest.h>

#include "client/testing/memory_directory.h"

namespace relay::mcp {
namespace {

TEST(NameSlot, NameIsReusedAndDiffersBetweenConcurrentServers) {
  client::testing::MemoryDirectory directory;
  int made = 0;
  const auto fresh = [&] { return "Name" + std::to_string(++made); };
  {
    const auto first = take_name(directory, fresh), second = take_name(directory, fresh);
    EXPECT_EQ(first->name, "Name1");
    EXPECT_EQ(second->name, "Name2");
  }
  EXPECT_EQ(take_name(directory, fresh)->name, "Name1");
  EXPECT_EQ(made, 2);
}

TEST(NameSlot, DamagedNameIsReplaced) {
  client::testing::MemoryDirectory directory;
  ASSERT_TRUE(directory.create("mcp-1.name").value()->append("not a name\n"));
  EXPECT_EQ(take_name(directory, [] { return std::string{"Good"}; })->name, "Good");
}

}  // namespace
}  // namespace relay::mcp
