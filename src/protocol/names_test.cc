#include "protocol/names.h"

#include <gtest/gtest.h>

#include "protocol/errors.h"
#include "protocol/limits.h"

namespace relay::protocol {
namespace {

std::string refusal_of(std::string_view name) {
  const auto result = check_agent_name(name);
  return result ? "accepted" : result.error().message();
}

TEST(AgentName, MayBeWrittenInAnyScript) {
  for (const auto* name : {"Alice", "codex-1", "a", "Zoë", "翻訳者", "dev.ops_2", "team:Lead", "__internal", "🤖"}) {
    EXPECT_EQ(refusal_of(name), "accepted") << name;
  }
  EXPECT_EQ(refusal_of(std::string(kMaxNameBytes, 'x')), "accepted");
}

TEST(AgentName, IsShort) {
  EXPECT_EQ(refusal_of(""), "this agent name is empty; give the agent a name");
  EXPECT_EQ(refusal_of(std::string(10'000, 'x')),
            "this agent name is 10000 bytes long, the limit is 128; choose a shorter one");
}

TEST(AgentName, RefusesControlCharacters) {
  for (const auto* name : {"a\x1b[2J", "a\nb", "a\tb", "a\x7f",
                           "\xC2\x9B"
                           "31m"}) {
    EXPECT_EQ(refusal_of(name), "this agent name contains a control character; leave it out");
  }
  EXPECT_EQ(refusal_of(std::string_view("a\0b", 3)), "this agent name contains a control character; leave it out");
}

TEST(AgentName, RefusesInvisibleCharacters) {
  for (const auto* name : {"a b", " a", "a\u00A0b", "a\u200Bb", "\u202Ea", "a\u2060", "\uFEFFa", "a\u3000b", "\u2800",
                           "a\U000E0041", "a\u3164", "a\uFE0F"}) {
    EXPECT_EQ(refusal_of(name), "this agent name contains white space or an invisible mark; leave it out") << name;
  }
}

TEST(AgentName, RefusesPrivateUseCharacters) {
  for (const auto* name : {"a\uE000", "\U000F0000", "\U0010FFFD"})
    EXPECT_EQ(refusal_of(name), "this agent name contains a private-use character; leave it out") << name;
}

TEST(AgentName, RefusesMixedScripts) {
  for (const auto* name : {"Воb", "Αlice", "Mаria"})
    EXPECT_EQ(refusal_of(name),
              "this agent name mixes several scripts, which can look like another name; use one script")
        << name;
  for (const auto* name : {"Ｂｏｂ", "𝐁𝐨𝐛", "ﬁne"})
    EXPECT_EQ(
        refusal_of(name),
        "this agent name contains characters in a compatibility form, such as full width; write the plain characters")
        << name;
}

TEST(AgentName, IsUtf8) {
  for (const auto* name : {"\xFF", "a\xC3", "\xC0\x80", "\xED\xA0\x80"}) {
    EXPECT_EQ(refusal_of(name), "this agent name is not UTF-8");
  }
}

TEST(AgentName, RefusesAddressesAndPaths) {
  for (const auto* name : {"*", "a*", "#general", "@users", "_consensus", "_router", "..", ".", "a/b", "a\\b"}) {
    EXPECT_FALSE(check_agent_name(name)) << name;
  }
}

TEST(ChannelName, IsShortAndPrintable) {
  EXPECT_TRUE(check_channel_name("#general"));
  EXPECT_TRUE(check_channel_name("dm:Alice:Bob"));
  EXPECT_FALSE(check_channel_name(""));
  EXPECT_FALSE(check_channel_name("#a\nb"));
  EXPECT_FALSE(check_channel_name("#a\u202eb"));
  EXPECT_FALSE(check_channel_name("#a\U000E0041"));
  EXPECT_FALSE(check_channel_name("#d\u0435v")) << "with a Cyrillic letter";
  EXPECT_TRUE(check_channel_name("dm:Alice:\u0411\u043e\u0431"));
  EXPECT_FALSE(check_channel_name(std::string(kMaxTopicBytes + 1, 'c')));
}

TEST(Names, DetectReservedAndInternalNames) {
  for (const auto* name : {"Dashboard", "cli", "system", "human", "_router", "api", "policy", "nobody"})
    EXPECT_TRUE(is_reserved_name(name)) << name;
  EXPECT_FALSE(is_reserved_name("dashboard"));
  for (const auto* name : {"__spawner", "Dashboard", "_DashboardUI", "cli"})
    EXPECT_TRUE(is_internal_name(name)) << name;
  EXPECT_FALSE(is_internal_name("system"));
}

}  // namespace
}  // namespace relay::protocol
