#include "host/screen/state_since.h"

#include <gtest/gtest.h>

namespace relay::host {
namespace {

using profiles::State;

SteadyTime at(std::int64_t ms) { return SteadyTime{Millis{ms}}; }

TEST(StateSince, NewStateDoesNotInheritTimeOfScreen) {
  StateSince state;
  state.update(State::Unknown, at(1'000));
  state.update(State::Idle, at(5'000));
  EXPECT_EQ(state.since(State::Idle, at(26'000)), at(5'000));
  EXPECT_EQ(state.since(State::Working, at(26'000)), at(26'000)) << "its server says so before it was looked at";
  state.update(State::Working, at(26'010));
  state.update(State::Working, at(27'000));
  EXPECT_EQ(state.since(State::Working, at(28'000)), at(26'010));
}

}  // namespace
}  // namespace relay::host
