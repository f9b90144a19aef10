#include "host/turn_speech.h"

#include <gtest/gtest.h>

namespace relay::host {
namespace {

speech::Utterance message_to(std::string to, std::string body) {
  return speech::Command{.to = std::move(to), .body = std::move(body)};
}

TEST(TurnSpeech, CommandHeardInTheRecordIsKnownOnTheScreenHoweverItIsWrapped) {
  TurnSpeech turn;
  turn.add(message_to("Bob", "look at src/auth/session.cpp, please"));
  EXPECT_FALSE(turn.take(message_to("Carol", "look at src/auth/session.cpp, please")));
  EXPECT_TRUE(turn.take(message_to("Bob", "look at src/auth/\nsession.cpp,  please")));
  EXPECT_FALSE(turn.take(message_to("Bob", "look at src/auth/session.cpp, please"))) << "said a second time";
}

TEST(TurnSpeech, NextTurnMaySayTheSame) {
  TurnSpeech turn;
  turn.add(speech::Release{.name = "Dev"});
  turn.begin_turn();
  EXPECT_FALSE(turn.take(speech::Release{.name = "Dev"}));
}

TEST(TurnSpeech, WhatIsRememberedIsBounded) {
  TurnSpeech turn;
  for (std::size_t i = 0; i <= TurnSpeech::kMaxHeard; ++i) turn.add(message_to("Bob", std::to_string(i)));
  EXPECT_FALSE(turn.take(message_to("Bob", "0")));
  EXPECT_TRUE(turn.take(message_to("Bob", "1")));
}

}  // namespace
}  // namespace relay::host
