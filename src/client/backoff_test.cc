#include "client/backoff.h"

namespace relay::client {
namespace {

bool near(Millis delay, Millis nominal) { return delay >= nominal * 85 / 100 && delay <= nominal * 115 / 100; }

TEST(Backoff, DoublesFromAHundredMillisecondsWithinItsJitter) {
  SeededRandom random{1};
  Backoff backoff{RetryLimit::never_give_up()};
  for (const auto nominal : {100, 200, 400, 800, 1600}) EXPECT_TRUE(near(*backoff.next(random), Millis{nominal}));
}

TEST(Backoff, NeverWaitsLongerThanThirtySeconds) {
  SeededRandom random{2};
  Backoff backoff{RetryLimit::never_give_up()};
  for (int i = 0; i < 200; ++i) EXPECT_LE(*backoff.next(random), kMaxBackoff);
}

TEST(Backoff, JitterSpreadsClientsOfOneDaemon) {
  SeededRandom random{3};
  std::set<Millis> delays;
  for (int i = 0; i < 50; ++i) delays.insert(*Backoff{RetryLimit::never_give_up()}.next(random));
  EXPECT_GT(delays.size(), 10U);
}

TEST(Backoff, ProgramGivesUpAtTheTenthFailure) {
  SeededRandom random{4};
  Backoff backoff{RetryLimit::program()};
  for (int i = 1; i < kProgramAttempts; ++i) EXPECT_TRUE(backoff.next(random)) << i;
  EXPECT_FALSE(backoff.next(random));
}

TEST(Backoff, RestartsAfterSuccess) {
  SeededRandom random{5};
  Backoff backoff{RetryLimit::program()};
  for (int i = 0; i < 8; ++i) (void)backoff.next(random);
  backoff.reset();
  EXPECT_EQ(backoff.failures(), 0);
  EXPECT_TRUE(near(*backoff.next(random), kFirstBackoff));
}

}  // namespace
}  // namespace relay::client
