#include "tmux/end_mark.h"

#include <gtest/gtest.h>

namespace relay::tmux {
namespace {

TEST(EndMark, IsFoundForAnySplit) {
  const EndMark mark{"secret"};
  const auto stream = "last \x1b]7770;words\x1b" + mark.text() + "\r\nmore output";
  for (std::size_t one = 0; one <= stream.size(); ++one) {
    for (auto two = one; two <= stream.size(); ++two) {
      auto reader = mark;
      auto seen = reader.before(stream.substr(0, one));
      seen += reader.before(stream.substr(one, two - one));
      seen += reader.before(stream.substr(two));
      ASSERT_EQ(seen, "last \x1b]7770;words\x1b") << one << ", " << two;
      ASSERT_TRUE(reader.found());
    }
  }
}

TEST(EndMark, ReturnsBytesThatCannotBeTheMark) {
  EndMark mark{"secret"};
  EXPECT_EQ(mark.before("plain"), "plain");
  EXPECT_EQ(mark.before("\x1b"), "");
  EXPECT_EQ(mark.before("[m"), "\x1b[m");
  EXPECT_EQ(mark.before(""), "");
  EXPECT_FALSE(mark.found());
}

}  // namespace
}  // namespace relay::tmux
