// Output on a terminal of 40 columns in an ASCII locale: no line is longer, no word is cut.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "cli/render/text.h"
#include "cli/terminal.h"

namespace relay::cli_tests {
namespace {

constexpr unsigned short kColumns = 40;

/// Long words, such as paths, are not broken, so that they can be copied.
bool has_long_word(const std::string& line) {
  std::istringstream words{line};
  for (std::string word; words >> word;)
    if (word.size() > kColumns - 4) return true;
  return false;
}

struct Narrow : ::testing::Test {
  Narrow() {
    box.set("NO_COLOR", "1");
    box.set("LC_ALL", "C");
    box.ok({"chat", "--name", "Bob"});
    box.ok({"chat", "--name", "Alice", "--to", "Bob"}, "the tests of the parser are green again\n");
    box.ok({"channels", "join", "dev", "--name", "Bob"});
    box.ok({"pause", "Bob", "--reason", "in the middle of something important"});
    id = *string_member(box.ok_json({"send", "Bob", "what shall I do next, and how long may it take?"}), "id");
    box.ok({"cancel", *string_member(box.ok_json({"send", "Bob", "never mind"}), "id")});
  }

  std::string screen_of(const std::vector<std::string>& words) {
    Terminal terminal{box, words, kColumns};
    terminal.finish();
    return terminal.screen();
  }

  Sandbox box;
  std::string id;
};

TEST_F(Narrow, SentencesBreakAtSpaces) {
  const std::vector<std::vector<std::string>> commands = {
      {"--help"},
      {"send", "--help"},
      {"status"},
      {"agents", "--all"},
      {"log"},
      {"inbox", "Bob"},
      {"trace", id},
      {"events"},
      {"doctor"},
      {"workspaces"},
      {"dead"},
      {"policy", "Bob"},
      {"cost"},
      {"loops"},
      {"channels"},
      {"channels", "members", "dev"},
      {"topics"},
      {"permissions"},
      {"questions"},
      {"config"},
      {"search", "no"},
      {"hooks", "status"},
      {"explain", "Bob"},
      {"send", "Nobody", "hello"},
      {"reload"},
      {"frobnicate"},
      {"up"},
      {"down"},
  };
  for (const auto& words : commands) {
    const auto screen = screen_of(words);
    EXPECT_FALSE(screen.empty()) << words.front();
    EXPECT_TRUE(std::ranges::all_of(screen, [](char c) { return static_cast<unsigned char>(c) < 0x80; })) << screen;
    std::istringstream lines{screen};
    for (std::string line; std::getline(lines, line);) {
      EXPECT_TRUE(cli::display_width(line) <= kColumns || has_long_word(line)) << words.front() << ": " << line;
    }
  }
}

TEST_F(Narrow, NoWordIsCut) {
  const auto refused = screen_of({"send", "Bob", "hi", "--wait", "submitted"});
  EXPECT_EQ(refused,
            "agent-relay: --wait cannot be\n"
            "  \"submitted\": choose one of accepted|\n"
            "  delivered|seen, or put --wait last\n");
}

}  // namespace
}  // namespace relay::cli_tests
