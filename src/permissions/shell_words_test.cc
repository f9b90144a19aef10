#include "permissions/shell_words.h"

#include <gtest/gtest.h>

namespace relay::permissions {
namespace {

using Words = std::vector<std::string>;

Words words_in(std::string_view line) {
  auto command = read_simple_command(line);
  EXPECT_TRUE(command) << line << ": " << command.error().message();
  return command ? command->words : Words{};
}

std::string text_of(std::string_view line) { return read_simple_command(line).value().text; }

TEST(ShellWords, RemoveQuotes) {
  EXPECT_EQ(words_in("ls"), Words{"ls"});
  EXPECT_EQ(words_in("  git   status  -s "), (Words{"git", "status", "-s"}));
  EXPECT_EQ(words_in("git commit -m 'fix; it'"), (Words{"git", "commit", "-m", "fix; it"}));
  EXPECT_EQ(words_in("echo \"it's\" '' a'b'\"c\""), (Words{"echo", "it's", "", "abc"}));
  EXPECT_EQ(words_in("echo '$HOME `x` \"y\" !'"), (Words{"echo", "$HOME `x` \"y\" !"}));
  EXPECT_EQ(words_in("make CC=gcc -j2 a#b HEAD^ a~b"), (Words{"make", "CC=gcc", "-j2", "a#b", "HEAD^", "a~b"}));
  EXPECT_EQ(words_in("cat größe.txt 日本"), (Words{"cat", "größe.txt", "日本"}));
}

TEST(ShellWords, TextQuotesLiterals) {
  EXPECT_EQ(text_of("ls  'src'  \"a b\""), "ls src 'a b'");
  EXPECT_EQ(text_of("ls *.c '*.c'"), "ls *.c '*.c'");
  EXPECT_EQ(text_of("ls ~ '~'"), "ls ~ '~'");
  EXPECT_EQ(text_of("'ls x'"), "'ls x'");
  EXPECT_EQ(text_of("echo \"it's\""), "echo 'it'\"'\"'s'");
  EXPECT_EQ(text_of("echo '' '#'"), "echo '' '#'");
}

TEST(ShellWords, TextRoundTrips) {
  for (const auto* line : {"ls", "echo \"it's\" '' '#x' '*' ~/x *.c", "'a=b'c d=e", "git log '--format=%h %s'"}) {
    const auto once = read_simple_command(line);
    if (!once) continue;
    const auto twice = read_simple_command(once->text);
    ASSERT_TRUE(twice) << once->text;
    EXPECT_EQ(twice->words, once->words);
    EXPECT_EQ(twice->text, once->text);
  }
}

TEST(ShellWords, ErrorNamesReason) {
  const auto why = [](std::string_view line) {
    auto read = read_simple_command(line);
    return read ? std::string{"simple"} : read.error().message();
  };
  EXPECT_EQ(why("ls; rm x"), "; outside quotes");
  EXPECT_EQ(why("ls \"$(x)\""), "$ in double quotes");
  EXPECT_EQ(why("echo 'a\\'"), "a backslash in quotes");
  EXPECT_EQ(why("ls 'x"), "a quote is not closed");
  EXPECT_EQ(why("ls # all"), "a word starts with #");
  EXPECT_EQ(why("A=b ls"), "a variable is set before the command");
  EXPECT_EQ(why("eval ls"), "eval passes its words to the shell");
  EXPECT_EQ(why("ls *\"x y\""), "a pattern for file names is partly in quotes");
  EXPECT_EQ(why(""), "there is no command");
  EXPECT_EQ(why("   "), "there is no command");
  EXPECT_EQ(why("ls\nrm x"), "it contains a line end, a tab, or invisible characters");
  EXPECT_EQ(why("ls \xe2\x80\x8b"), "it contains a line end, a tab, or invisible characters");
  EXPECT_EQ(why("ls " + std::string(kMaxSimpleCommandBytes, 'x')), "it is too long");
}

}  // namespace
}  // namespace relay::permissions
