#include "host/shown.h"

#include <gtest/gtest.h>

namespace relay::host {
namespace {

constexpr const char* kLetter = "Relay message from Alice [abc12345]: go on";

bool is_shown(const std::string& text, const char* letter = kLetter) { return Shown{text}.shows(letter); }

TEST(Shown, WhereALineBegins) {
  EXPECT_TRUE(is_shown(kLetter));
  EXPECT_TRUE(is_shown(std::string{"Another session sent a message:\n"} + kLetter + "\n\n(and more)"));
  EXPECT_FALSE(is_shown(std::string{"what does \""} + kLetter + "\" mean?")) << "a person's words about it";
  EXPECT_FALSE(is_shown("something else"));
  EXPECT_FALSE(is_shown("something else", ""));
}

TEST(Shown, OnePlaceShowsOneLetter) {
  Shown once{kLetter};
  EXPECT_TRUE(once.shows(kLetter));
  EXPECT_FALSE(once.shows(kLetter)) << "the same message, brought by another delivery";
  Shown twice{std::string{kLetter} + "\n" + kLetter};
  EXPECT_TRUE(twice.shows(kLetter));
  EXPECT_TRUE(twice.shows(kLetter));
  EXPECT_FALSE(twice.shows(kLetter));
}

TEST(Shown, ThoseThatWentTogetherInOneLine) {
  Shown line{"text of q text of a"};
  EXPECT_FALSE(line.shows("text of a"));
  EXPECT_TRUE(line.shows("text of q"));
  EXPECT_TRUE(line.shows("text of a")) << "right behind one of ours";
}

TEST(Shown, ThroughEntities) {
  EXPECT_TRUE(is_shown("a &lt;b&gt; &amp; c", "a <b> &amp; c"));
  EXPECT_TRUE(is_shown("a &lt;b&gt;", "a &lt;b&gt;")) << "written so";
}

}  // namespace
}  // namespace relay::host
