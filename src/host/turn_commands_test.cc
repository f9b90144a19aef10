#include "host/turn_commands.h"

#include <gtest/gtest.h>

namespace relay::host {
namespace {

commands::Command message_to(std::string to, std::string body) {
  return commands::SendCommand{.to = std::move(to), .body = std::move(body)};
}

TEST(TurnCommands, CommandOfTranscriptIsRecognizedWrappedOnScreen) {
  TurnCommands turn;
  EXPECT_TRUE(turn.accept_from_transcript(message_to("Bob", "look at src/auth/session.cpp, please")));
  EXPECT_TRUE(turn.accept_from_screen(message_to("Carol", "look at src/auth/session.cpp, please"), true));
  EXPECT_FALSE(turn.accept_from_screen(message_to("Bob", "look at src/auth/\nsession.cpp,  please"), true));
  EXPECT_TRUE(turn.accept_from_screen(message_to("Bob", "look at src/auth/session.cpp, please"), true))
      << "written a second time";
}

TEST(TurnCommands, CommandOfScreenIsNotExecutedAgainFromTranscript) {
  TurnCommands turn;
  const auto command = message_to("Bob", "the build is green");
  EXPECT_TRUE(turn.accept_from_screen(command, true));
  EXPECT_FALSE(turn.accept_from_transcript(command));
  EXPECT_TRUE(turn.accept_from_transcript(command)) << "written a second time";
  EXPECT_FALSE(turn.accept_from_screen(command, false));
}

TEST(TurnCommands, ScreenBesideTranscriptIsIgnored) {
  TurnCommands turn;
  const auto command = message_to("Bob", "the build is green");
  EXPECT_FALSE(turn.accept_from_screen(command, false));
  EXPECT_TRUE(turn.accept_from_transcript(command));
}

TEST(TurnCommands, NextTurnMayRepeatCommand) {
  TurnCommands turn;
  const commands::Command release = commands::ReleaseCommand{.name = "Dev"};
  turn.accept_from_transcript(release);
  turn.start_turn();
  EXPECT_TRUE(turn.accept_from_screen(release, true));
  turn.start_turn();
  EXPECT_TRUE(turn.accept_from_transcript(release));
}

TEST(TurnCommands, RememberedCommandsAreBounded) {
  TurnCommands turn;
  for (std::size_t i = 0; i <= TurnCommands::kMaxCommands; ++i)
    turn.accept_from_transcript(message_to("Bob", std::to_string(i)));
  EXPECT_TRUE(turn.accept_from_screen(message_to("Bob", "0"), true));
  EXPECT_FALSE(turn.accept_from_screen(message_to("Bob", "1"), true));
}

}  // namespace
}  // namespace relay::host
