#include "profiles/profile_file.h"

#include <gtest/gtest.h>

#include "profiles/registry.h"

namespace relay::profiles {
namespace {

std::string error_of(std::string_view toml) {
  const auto profile = read_profile(toml, "mine.toml");
  return profile ? "none" : profile.error().message();
}

TEST(ProfileFile, ReadsAllFields) {
  const auto profile = read_profile(R"(
name = "robot"
commands = ["robot", "rob"]
reports_status = true
working_rows = ['busy']
wraps = false
question_rows = ['\?$']
tool_rows = ['^\$ ']
[composer]
first = '^> (.*)$'
line_mode = true
[typing]
submit_gap_ms = 50
[[row]]
kind = "assistant"
pattern = '^r: '
look = "bold"
joins = ["assistant", "user"]
above = '^=+$'
until = '^$'
[[pattern]]
name = "ask"
role = "permission"
regex = '^May I (?P<command>.+)\?$'
)",
                                    "mine.toml");
  ASSERT_TRUE(profile) << profile.error().message();
  EXPECT_EQ(profile->commands, (std::vector<std::string>{"robot", "rob"}));
  EXPECT_TRUE(profile->reports_status);
  EXPECT_EQ(profile->typing.submit_gap, Millis{50});
  EXPECT_FALSE(profile->wraps);
  EXPECT_TRUE(profile->composer.line_mode);
  EXPECT_EQ(profile->question_rows.size() + profile->tool_rows.size(), 2u);
  EXPECT_EQ(profile->rows.at(0).style, CharacterStyle::Bold);
  EXPECT_EQ(profile->rows.at(0).joins, (std::vector{RowKind::Assistant, RowKind::User}));
  EXPECT_EQ(profile->rows.at(0).above, "^=+$");
  EXPECT_EQ(profile->rows.at(0).until, "^$");
  EXPECT_EQ(profile->patterns.at(0).role, profiles::Role::PermissionHead);
}

TEST(ProfileFile, ReportsLineAndColumnOfAnError) {
  EXPECT_EQ(error_of("name = \"x\"\ncommnds = []\n"), "mine.toml:2:1: unknown key commnds; did you mean commands?");
  EXPECT_EQ(error_of("name = 5"), "mine.toml:1:8: expected a string");
  EXPECT_EQ(error_of("name = \"x\"\nindent = 99"), "mine.toml:2:10: expected a number from 0 to 40");
  EXPECT_EQ(error_of("name = \"x\"\n[[row]]\nkind = \"shout\""),
            "mine.toml:3:8: expected one of assistant, user, tool, chrome");
  EXPECT_EQ(error_of("name = \"x\"\n[[row]]\njoins = [\"us\"]"),
            "mine.toml:3:10: expected one of assistant, user, tool, chrome");
  EXPECT_EQ(error_of("indent = 2"), "mine.toml: a profile needs a name");
  EXPECT_TRUE(
      error_of("name = \"x\"\nworking_rows = ['(']").starts_with("mine.toml:2:17: the pattern '(' cannot be used"));
  EXPECT_TRUE(error_of("name = ").starts_with("mine.toml:1:8: this is not TOML"));
}

TEST(ProfileFile, NamesTheNewKeyForARenamedOne) {
  EXPECT_EQ(error_of("asks = []"), "mine.toml:1:1: unknown key asks; did you mean question_rows?");
  EXPECT_EQ(error_of("[composer]\nline = true"), "mine.toml:2:1: unknown key line; did you mean line_mode?");
  EXPECT_EQ(error_of("name = \"x\"\nlook = \"line\""), "mine.toml:2:1: unknown key look");
}

TEST(Registry, FindsBuiltInProfiles) {
  for (const auto* name : {"aider", "claude", "codex", "gemini", "goose", "opencode", "generic"})
    EXPECT_TRUE(find_profile(name)) << find_profile(name).error().message();
  EXPECT_EQ(profile_for_program("/usr/local/bin/claude")->name, "claude");
  EXPECT_EQ(profile_for_program("vim")->name, "generic");
  EXPECT_FALSE(find_profile("unknown"));
}

TEST(Registry, PrefersUserProfiles) {
  const std::vector<UserProfile> own = {{"home/claude.toml", "name = \"claude\"\ncommands = [\"claude\"]\nindent = 7"}};
  EXPECT_EQ(profile_for_program("claude", own)->indent, 7u);
  const std::vector<UserProfile> bad = {{"home/claude.toml", "name ="}};
  EXPECT_TRUE(profile_for_program("claude", bad).error().message().starts_with("home/claude.toml:1:"));
}

}  // namespace
}  // namespace relay::profiles
