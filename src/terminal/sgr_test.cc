#include "terminal/sgr.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "terminal/testing/screens.h"

namespace relay::terminal {
namespace {

Style style_after(std::string_view bytes) {
  return testing::screen_after(std::string{bytes} + "x").grid().row(0).cell(0).style();
}

TEST(Sgr, ReadsColorsInEveryForm) {
  EXPECT_EQ(style_after("\x1b[31m").foreground, Color::indexed(1));
  EXPECT_EQ(style_after("\x1b[97m").foreground, Color::indexed(15));
  EXPECT_EQ(style_after("\x1b[105m").background, Color::indexed(13));
  EXPECT_EQ(style_after("\x1b[38;5;200m").foreground, Color::indexed(200));
  EXPECT_EQ(style_after("\x1b[38:5:200m").foreground, Color::indexed(200));
  EXPECT_EQ(style_after("\x1b[48;2;1;2;3m").background, Color::rgb(1, 2, 3));
  EXPECT_EQ(style_after("\x1b[48:2::1:2:3m").background, Color::rgb(1, 2, 3));
  EXPECT_EQ(style_after("\x1b[48:2:1:2:3m").background, Color::rgb(1, 2, 3));
}

TEST(Sgr, ReadsParametersBehindAColor) {
  EXPECT_EQ(style_after("\x1b[38;5;1;1m").has(Attribute::Bold), true);
  EXPECT_EQ(style_after("\x1b[58;2;1;2;3;1m").has(Attribute::Bold), true) << "the underline color is skipped";
  EXPECT_EQ(style_after("\x1b[58:5:1;1m").has(Attribute::Bold), true);
}

TEST(Sgr, IgnoresAnIncompleteColor) {
  EXPECT_EQ(style_after("\x1b[38;5m"), Style{});
  EXPECT_EQ(style_after("\x1b[38;2;1;2m"), Style{});
  EXPECT_EQ(style_after("\x1b[38m"), Style{});
}

TEST(Sgr, UnderlinesHaveStyles) {
  EXPECT_EQ(style_after("\x1b[4m").underline, Underline::Single);
  EXPECT_EQ(style_after("\x1b[4:3m").underline, Underline::Curly);
  EXPECT_EQ(style_after("\x1b[4:0m").underline, Underline::None);
  EXPECT_EQ(style_after("\x1b[21m").underline, Underline::Double);
  EXPECT_EQ(style_after("\x1b[4;24m").underline, Underline::None);
}

TEST(Sgr, AnEmptyOneResets) { EXPECT_EQ(style_after("\x1b[1;31;4m\x1b[m"), Style{}); }

TEST(Sgr, TooManyParametersAreDroppedNotMixed) {
  std::string many = "\x1b[1";
  for (int i = 0; i < 100; ++i) many += ";3";
  EXPECT_TRUE(style_after(many + "1m").has(Attribute::Italic));
  EXPECT_EQ(style_after(many + "1m").foreground, Color{});
}

TEST(Sgr, RoundTripsEveryStyle) {
  SeededRandom random{7};
  for (int i = 0; i < 500; ++i) {
    Style style;
    style.attributes = static_cast<std::uint16_t>(random.below(256));
    style.underline = static_cast<Underline>(random.below(6));
    const auto byte = [&] { return static_cast<std::uint8_t>(random.below(256)); };
    if (random.below(2) == 0) style.foreground = Color::indexed(byte());
    if (random.below(2) == 0) style.background = Color::rgb(byte(), byte(), byte());
    EXPECT_EQ(style_after("\x1b[1;2;3;4;31;42m" + sgr_of(style)), style);
  }
}

}  // namespace
}  // namespace relay::terminal
