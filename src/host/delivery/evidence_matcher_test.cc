#include "host/delivery/evidence_matcher.h"

#include <gtest/gtest.h>

namespace relay::host {
namespace {

constexpr const char* kLetter = "Relay message from Alice [abc12345]: go on";

bool is_shown(const std::string& text, const char* delivery = kLetter) {
  return EvidenceMatcher{text}.matches(delivery);
}

TEST(EvidenceMatcherTest, ShowsAtLineStart) {
  EXPECT_TRUE(is_shown(kLetter));
  EXPECT_TRUE(is_shown(std::string{"Another session sent a message:\n"} + kLetter + "\n\n(and more)"));
  EXPECT_FALSE(is_shown(std::string{"what does \""} + kLetter + "\" mean?")) << "a person's words about it";
  EXPECT_FALSE(is_shown("something else"));
  EXPECT_FALSE(is_shown("something else", ""));
}

TEST(EvidenceMatcherTest, OnePositionShowsOneDelivery) {
  EvidenceMatcher once{kLetter};
  EXPECT_TRUE(once.matches(kLetter));
  EXPECT_FALSE(once.matches(kLetter)) << "the same message, brought by another delivery";
  EvidenceMatcher twice{std::string{kLetter} + "\n" + kLetter};
  EXPECT_TRUE(twice.matches(kLetter));
  EXPECT_TRUE(twice.matches(kLetter));
  EXPECT_FALSE(twice.matches(kLetter));
}

TEST(EvidenceMatcherTest, ThoseThatWentTogetherInOneLine) {
  EvidenceMatcher line{"text of q text of a"};
  EXPECT_FALSE(line.matches("text of a"));
  EXPECT_TRUE(line.matches("text of q"));
  EXPECT_TRUE(line.matches("text of a")) << "right behind one of ours";
}

TEST(EvidenceMatcherTest, ThroughEntities) {
  EXPECT_TRUE(is_shown("a &lt;b&gt; &amp; c", "a <b> &amp; c"));
  EXPECT_TRUE(is_shown("a &lt;b&gt;", "a &lt;b&gt;")) << "written so";
}

}  // namespace
}  // namespace relay::host
