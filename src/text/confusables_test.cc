#include "text/confusables.h"

#include <gtest/gtest.h>

namespace relay::text {
namespace {

bool look_alike(std::string_view a, std::string_view b) { return confusable_skeleton(a) == confusable_skeleton(b); }

TEST(Confusables, LookAlikeAcrossScripts) {
  EXPECT_TRUE(look_alike("Bob", "Воb")) << "Cyrillic";
  EXPECT_TRUE(look_alike("Alice", "Αlice")) << "Greek";
  EXPECT_TRUE(look_alike("Alice", "Aⅼice")) << "a Roman numeral";
  EXPECT_TRUE(look_alike("paypal", "раураl"));
  EXPECT_TRUE(look_alike("codex-1", "codex-l"));
  EXPECT_TRUE(look_alike("modern", "rnodern"));
}

TEST(Confusables, KeepDifferentNamesApart) {
  for (const auto& [a, b] : {std::pair{"Alice", "Bob"},
                             {"codex-1", "codex-2"},
                             {"Bob", "bob"},
                             {"翻訳者", "翻訳"},
                             {"Zoe", "Zoë"},
                             {"🤖", "👾"},
                             {"", "a"}})
    EXPECT_FALSE(look_alike(a, b)) << a << " " << b;
}

TEST(Confusables, MatchComposedAndDecomposedForms) { EXPECT_TRUE(look_alike("Zoë", "Zoe\u0308")); }

TEST(Confusables, AcceptMalformedBytes) {
  EXPECT_FALSE(confusable_skeleton("a\xff").empty());
  EXPECT_EQ(confusable_skeleton(""), "");
}

}  // namespace
}  // namespace relay::text
