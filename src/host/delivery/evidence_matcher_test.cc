#include "host/delivery/evidence_matcher.h"

#include <gtest/gtest.h>

namespace relay::host {
namespace {

constexpr const char* kText = "Relay message from Alice [abc12345]: proceed";

bool matches(const std::string& text, const char* delivery = kText) { return EvidenceMatcher{text}.matches(delivery); }

TEST(EvidenceMatcherTest, TextMatchesAtLineStart) {
  EXPECT_TRUE(matches(kText));
  EXPECT_TRUE(matches(std::string{"Another session sent a message:\n"} + kText + "\n\n(and more)"));
  EXPECT_FALSE(matches(std::string{"what does \""} + kText + "\" mean?")) << "a quotation";
  EXPECT_FALSE(matches("something else"));
  EXPECT_FALSE(matches("something else", ""));
}

TEST(EvidenceMatcherTest, OnePositionMatchesOneDelivery) {
  EvidenceMatcher once{kText};
  EXPECT_TRUE(once.matches(kText));
  EXPECT_FALSE(once.matches(kText)) << "the same message, brought by another delivery";
  EvidenceMatcher twice{std::string{kText} + "\n" + kText};
  EXPECT_TRUE(twice.matches(kText));
  EXPECT_TRUE(twice.matches(kText));
  EXPECT_FALSE(twice.matches(kText));
}

TEST(EvidenceMatcherTest, DeliveriesInOneLineMatch) {
  EvidenceMatcher line{"text of q text of a"};
  EXPECT_FALSE(line.matches("text of a"));
  EXPECT_TRUE(line.matches("text of q"));
  EXPECT_TRUE(line.matches("text of a")) << "directly after a match";
}

TEST(EvidenceMatcherTest, EntitiesMatchCharacters) {
  EXPECT_TRUE(matches("a &lt;b&gt; &amp; c", "a <b> &amp; c"));
  EXPECT_TRUE(matches("a &lt;b&gt;", "a &lt;b&gt;")) << "as sent";
}

}  // namespace
}  // namespace relay::host
