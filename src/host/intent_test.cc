#include "host/intent.h"

#include <gtest/gtest.h>

#include "client/testing/memory_directory.h"

namespace relay::host {
namespace {

TEST(Intent, EachNoteIsFoundByTheNextOne) {
  client::testing::MemoryDirectory disk;
  const auto opened = [&] {
    Intent intent{disk, "Bob.intent"};
    EXPECT_TRUE(intent.load());
    return intent;
  };
  EXPECT_FALSE(opened().holds("d-1"));
  ASSERT_TRUE(opened().add("d-1"));
  ASSERT_TRUE(opened().add("d-2"));
  EXPECT_TRUE(opened().holds("d-1") && opened().holds("d-2"));
}

TEST(Intent, KeepsABoundedNumberOfNotes) {
  client::testing::MemoryDirectory disk;
  Intent intent{disk, "Bob.intent"};
  for (std::size_t i = 0; i <= Intent::kMaxNotes; ++i) ASSERT_TRUE(intent.add("d-" + std::to_string(i)));
  EXPECT_FALSE(intent.holds("d-0"));
  EXPECT_TRUE(intent.holds("d-" + std::to_string(Intent::kMaxNotes)));
}

}  // namespace
}  // namespace relay::host
