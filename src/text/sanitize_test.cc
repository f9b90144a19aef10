#include "text/sanitize.h"

#include <gtest/gtest.h>

#include "text/display_width.h"

namespace relay::text {
namespace {

TEST(StripControlSequences, KeepsOrdinaryBrackets) {
  EXPECT_EQ(strip_control_sequences("[1] first"), "[1] first");
  EXPECT_EQ(strip_control_sequences("\x1b]0;never ended"), "\x1b]0;never ended");
  EXPECT_EQ(strip_control_sequences("a\x1b[99999999999Cb").size(), 1'002U) << "the number of blanks is bounded";
}

TEST(DisplayWidth, CountsColumns) {
  EXPECT_EQ(display_width("naïve"), 5U);
  EXPECT_EQ(display_width("漢字 ✅"), 7U);
  EXPECT_EQ(display_width("e\u0301"), 1U);
  EXPECT_EQ(last_character("a漢"), U'漢');
  EXPECT_EQ(last_character("\x80\x80\x80\x80\x80"), U'\0');
}

}  // namespace
}  // namespace relay::text
