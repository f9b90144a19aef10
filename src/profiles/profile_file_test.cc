#include "profiles/profile_file.h"

#include <gtest/gtest.h>

#include "profiles/registry.h"

namespace relay::profiles {
namespace {

std::string complaint(std::string_view toml) {
  const auto profile = read_profile(toml, "mine.toml");
  return profile ? "none" : profile.error().message();
}

TEST(ProfileFile, ReadsWhatItSays) {
  const auto profile = read_profile(R"(
name = "robot"
commands = ["robot", "rob"]
reports_status = true
working = ['busy']
wraps = false
asks = ['\?$']
runs = ['^\$ ']
[composer]
first = '^> (.*)$'
line = true
[typing]
submit_gap_ms = 50
[[row]]
kind = "say"
pattern = '^r: '
look = "bold"
joins = ["say", "user"]
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
  EXPECT_TRUE(profile->composer.line);
  EXPECT_EQ(profile->asks.size() + profile->runs.size(), 2u);
  EXPECT_EQ(profile->rows.at(0).look, CharacterStyle::Bold);
  EXPECT_EQ(profile->rows.at(0).joins, (std::vector{RowKind::Assistant, RowKind::User}));
  EXPECT_EQ(profile->rows.at(0).above, "^=+$");
  EXPECT_EQ(profile->rows.at(0).until, "^$");
  EXPECT_EQ(profile->patterns.at(0).role, profiles::Role::PermissionHead);
}

TEST(ProfileFile, NamesTheLineAndColumnOfAMistake) {
  EXPECT_EQ(complaint("name = \"x\"\nworkin = []\n"), "mine.toml:2:1: there is no workin; did you mean working?");
  EXPECT_EQ(complaint("name = 5"), "mine.toml:1:8: text is wanted here");
  EXPECT_EQ(complaint("name = \"x\"\nindent = 99"), "mine.toml:2:10: a number from 0 to 40 is wanted here");
  EXPECT_EQ(complaint("name = \"x\"\n[[row]]\nkind = \"shout\""),
            "mine.toml:3:8: one of say, user, tool, chrome is wanted here");
  EXPECT_EQ(complaint("name = \"x\"\n[[row]]\njoins = [\"us\"]"),
            "mine.toml:3:10: one of say, user, tool, chrome is wanted here");
  EXPECT_EQ(complaint("indent = 2"), "mine.toml: a profile needs a name");
  EXPECT_TRUE(complaint("name = \"x\"\nworking = ['(']").starts_with("mine.toml:2:12: the pattern '(' cannot be used"));
  EXPECT_TRUE(complaint("name = ").starts_with("mine.toml:1:8: this is not TOML"));
}

TEST(Shelf, KnowsTheAgentsThatMatterAndNobodyElse) {
  for (const auto* name : {"aider", "claude", "codex", "gemini", "goose", "opencode", "generic"})
    EXPECT_TRUE(find_profile(name)) << find_profile(name).error().message();
  EXPECT_EQ(profile_for_program("/usr/local/bin/claude")->name, "claude");
  EXPECT_EQ(profile_for_program("vim")->name, "generic");
  EXPECT_FALSE(find_profile("nobody"));
}

TEST(Shelf, PrefersTheUsersOwn) {
  const std::vector<UserProfile> own = {{"home/claude.toml", "name = \"claude\"\ncommands = [\"claude\"]\nindent = 7"}};
  EXPECT_EQ(profile_for_program("claude", own)->indent, 7u);
  const std::vector<UserProfile> bad = {{"home/claude.toml", "name ="}};
  EXPECT_TRUE(profile_for_program("claude", bad).error().message().starts_with("home/claude.toml:1:"));
}

}  // namespace
}  // namespace relay::profiles
