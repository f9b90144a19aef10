#include "text/scripts.h"

#include <gtest/gtest.h>

namespace relay::text {
namespace {

TEST(Scripts, OneScriptIsAllowed) {
  for (const auto* name :
       {"Alice", "codex-1", "Zoë", "Мария", "Ελένη", "翻訳者", "さくら", "서울", "مريم", "नमस्ते", "🤖", "42"})
    EXPECT_TRUE(is_highly_restrictive(name)) << name;
}

TEST(Scripts, LatinMixesWithChineseJapaneseAndKorean) {
  for (const auto* name : {"Claude翻訳者", "TeamさくらA", "Codex서울", "Bob注音ㄅ"})
    EXPECT_TRUE(is_highly_restrictive(name)) << name;
}

TEST(Scripts, OtherMixturesAreRefused) {
  for (const auto* name : {"Воb", "Αlice", "Mаria", "КириллиcaΩ", "서울さくら", "Aliceमी"})
    EXPECT_FALSE(is_highly_restrictive(name)) << name;
}

TEST(Scripts, CompatibilityFormsAreRefused) {
  for (const auto* name : {"Alice", "Zoë", "翻訳者", "🤖", "team:Lead"})
    EXPECT_TRUE(is_compatibility_composed(name)) << name;
  for (const auto* name : {"Ｂｏｂ", "𝐁𝐨𝐛", "Ⓑⓞⓑ", "ﬁne", "Zoe\u0308"})
    EXPECT_FALSE(is_compatibility_composed(name)) << name;
}

}  // namespace
}  // namespace relay::text
