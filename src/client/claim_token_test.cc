#include "client/claim_token.h"

#include <gtest/gtest.h>

#include "client/testing/memory_directory.h"

namespace relay::client {
namespace {

TEST(ClaimToken, IsCreatedOnce) {
  testing::MemoryDirectory disk;
  SystemRandom random;
  const auto made = load_or_create_claim_token(disk, "Bob.claim", random);
  ASSERT_TRUE(made);
  EXPECT_GE(made->size(), 32U);
  EXPECT_EQ(load_or_create_claim_token(disk, "Bob.claim", random).value_or(""), *made);
  EXPECT_NE(load_or_create_claim_token(disk, "Carol.claim", random).value_or(""), *made);
}

}  // namespace
}  // namespace relay::client
