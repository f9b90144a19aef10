#include "host/turn_commands.h"

#include <gtest/gtest.h>

namespace relay::host {
namespace {

commands::Command message_to(std::string to, std::string body) {
  return commands::SendCommand{.to = std::move(to), .body = std::move(body)};
}

TEST(TurnSpeech, CommandHeardInTheRecordIsKnownOnTheScreenHoweverItIsWrapped) {
  TurnSpeech turn;
  EXPECT_TRUE(turn.hear_in_record(message_to("Bob", "look at src/auth/session.cpp, please")));
  EXPECT_TRUE(turn.hear_on_screen(message_to("Carol", "look at src/auth/session.cpp, please"), true));
  EXPECT_FALSE(turn.hear_on_screen(message_to("Bob", "look at src/auth/\nsession.cpp,  please"), true));
  EXPECT_TRUE(turn.hear_on_screen(message_to("Bob", "look at src/auth/session.cpp, please"), true))
      << "said a second time";
}

TEST(TurnSpeech, CommandHeardOnTheScreenIsNotCarriedOutAgainWhenTheRecordIsBackInThatTurn) {
  TurnSpeech turn;
  const auto command = message_to("Bob", "the build is green");
  EXPECT_TRUE(turn.hear_on_screen(command, true));
  EXPECT_FALSE(turn.hear_in_record(command));
  EXPECT_TRUE(turn.hear_in_record(command)) << "said a second time";
  EXPECT_FALSE(turn.hear_on_screen(command, false));
}

TEST(TurnSpeech, CommandOnTheScreenBesideARecordIsNeitherCarriedOutNorRemembered) {
  TurnSpeech turn;
  const auto command = message_to("Bob", "the build is green");
  EXPECT_FALSE(turn.hear_on_screen(command, false));
  EXPECT_TRUE(turn.hear_in_record(command));
}

TEST(TurnSpeech, NextTurnMaySayTheSame) {
  TurnSpeech turn;
  const commands::Command release = commands::ReleaseCommand{.name = "Dev"};
  turn.hear_in_record(release);
  turn.begin_turn();
  EXPECT_TRUE(turn.hear_on_screen(release, true));
  turn.begin_turn();
  EXPECT_TRUE(turn.hear_in_record(release));
}

TEST(TurnSpeech, WhatIsRememberedIsBounded) {
  TurnSpeech turn;
  for (std::size_t i = 0; i <= TurnSpeech::kMaxHeard; ++i) turn.hear_in_record(message_to("Bob", std::to_string(i)));
  EXPECT_TRUE(turn.hear_on_screen(message_to("Bob", "0"), true));
  EXPECT_FALSE(turn.hear_on_screen(message_to("Bob", "1"), true));
}

}  // namespace
}  // namespace relay::host
