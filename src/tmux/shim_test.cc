#include "tmux/shim.h"

#include <gtest/gtest.h>

namespace relay::tmux {
namespace {

TEST(Shim, ReceivesTheCommandUnchanged) {
  const pty::Command command{.argv = {"sh", "", "-c\n\xff", "a b"}, .environment = {"A=1", "B="}, .directory = "/x y"};
  const auto back = decode_command(encode_command(command));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->argv, command.argv);
  EXPECT_EQ(back->environment, command.environment);
  EXPECT_EQ(back->directory, command.directory);
  EXPECT_TRUE(decode_command(encode_command({})));
}

TEST(Shim, RefusesAMalformedCommand) {
  using std::string_view_literals::operator""sv;
  for (const auto body :
       {""sv, "x"sv, "\0"sv, "\0x\0"sv, "\0\0"sv, "\0002\0a\0"sv, "\000-1\0"sv, "\00099999999999999999999\0"sv})
    EXPECT_FALSE(decode_command(body));
}

}  // namespace
}  // namespace relay::tmux
