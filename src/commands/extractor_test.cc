#include "commands/extractor.h"

#include <gtest/gtest.h>

#include <ctime>

#include "base/format.h"
#include "base/random.h"
#include "commands/testing/case_files.h"

namespace relay::commands {
namespace {

std::vector<Command> extract_in_two(std::string_view text, std::size_t cut) {
  Extractor extractor;
  auto commands = extractor.feed(text.substr(0, cut));
  for (auto& command : extractor.feed(text.substr(cut))) commands.push_back(std::move(command));
  for (auto& command : extractor.finish()) commands.push_back(std::move(command));
  return commands;
}

std::string only_body(std::string_view text) {
  const auto commands = extract(text);
  if (commands.size() != 1 || !std::holds_alternative<SendCommand>(commands[0]))
    return relay::format("<{} extracted>", commands.size());
  return std::get<SendCommand>(commands[0]).body;
}

std::vector<std::string> bodies(std::string_view text) {
  std::vector<std::string> all;
  for (const auto& command : extract(text))
    if (const auto* send = std::get_if<SendCommand>(&command)) all.push_back(send->body);
  return all;
}

TEST(Extractor, AcceptsTopicAndThreadInAnyOrder) {
  for (const auto* text :
       {"@relay:* [topic:deploys/v2] [thread:t-1] live", "@relay:* [thread:t-1] [topic:deploys/v2] live"}) {
    const auto commands = extract(text);
    ASSERT_EQ(commands.size(), 1u) << text;
    const auto& command = std::get<SendCommand>(commands[0]);
    EXPECT_EQ(command.topic, "deploys/v2");
    EXPECT_EQ(command.thread, "t-1");
    EXPECT_EQ(command.body, "live");
  }
  EXPECT_EQ(std::get<SendCommand>(extract("@relay:Bob [topic:two words] x")[0]).body, "[topic:two words] x");
  EXPECT_EQ(
      std::get<SendCommand>(extract(R"(@relay.json:{"kind":"action","to":"*","topic":"deploys","body":"x"})")[0]).topic,
      "deploys");
}

TEST(Extractor, SubscribeAndUnsubscribeTakeOneTopic) {
  EXPECT_EQ(std::get<TopicChange>(extract("@relay:subscribe deploys")[0]),
            (TopicChange{.location = {}, .topic = "deploys", .subscribe = true}));
  EXPECT_FALSE(std::get<TopicChange>(extract("@relay:Unsubscribe deploys")[0]).subscribe);
  EXPECT_TRUE(std::holds_alternative<CommandError>(extract("@relay:subscribe to the list")[0]));
  EXPECT_TRUE(
      std::get<TopicChange>(extract(R"([[RELAY]]{"type":"subscribe","topic":"deploys"}[[/RELAY]])")[0]).subscribe);
}

TEST(Extractor, RemovesEscapingBackslash) {
  EXPECT_EQ(
      std::get<SendCommand>(extract("@relay:Bob <<<\nwrite:\n\\@relay:Alice hi\nor \\->relay:Alice\n>>>")[0]).body,
      "write:\n@relay:Alice hi\nor ->relay:Alice");
  EXPECT_EQ(std::get<SendCommand>(extract("@relay:Bob <<<\na \\@other: b\n>>>")[0]).body, "a \\@other: b");
  EXPECT_EQ(std::get<SendCommand>(extract("@relay:Bob write:\n  \\@relay:Alice hi")[0]).body,
            "write:\n  @relay:Alice hi");
}

std::string only_error(std::string_view text) {
  const auto commands = extract(text);
  if (commands.size() != 1 || !std::holds_alternative<CommandError>(commands[0]))
    return relay::format("<{} extracted>", commands.size());
  return std::get<CommandError>(commands[0]).reason;
}

using Bodies = std::vector<std::string>;

TEST(Extractor, YieldsSameCommandsForAnySplit) {
  std::string text =
      "Plan:\n\n- First.\n- @relay:Bob review\n- Then.\n\n1. ->relay:Carol [thread:a:b] run\n2. Wait\n"
      "> @relay:Dave <<<\n> quoted \\>>> line\n> ```\n> >>> print()\n> ```\n> >>>\n"
      "~~~\n@relay:No no\n~~~\n[[RELAY]]\n{\"to\":\"Zoë\",\n\"type\":\"message\",\"body\":\"é\"}\n[[/RELAY]]\n"
      "<thinking>hm\n@relay:No no\n</thinking>\n@relay:Bob naïve 漢字\r\n   more\n\n"
      "@relay:spawn W1 claude <<<\ntask\n>>>\nsee ->relay-file:m1. ok\n@relay:\n[[RELAY]]{\n@relay:Eve after\n";
  const auto whole = extract(text);
  EXPECT_GE(whole.size(), 9U);
  for (std::size_t cut = 0; cut <= text.size(); ++cut)
    ASSERT_EQ(extract_in_two(text, cut), whole) << "cut at byte " << cut;
}

TEST(Extractor, YieldsSameCommandsForAnySplitOfGeneratedText) {
  constexpr std::string_view kParts[] = {"@relay:Bob ",
                                         "->relay:",
                                         ">>thinking:A ",
                                         "<<<",
                                         ">>>",
                                         "\n",
                                         "\n",
                                         "\n\n",
                                         "```",
                                         "~~~~",
                                         "[[RELAY]]",
                                         "[[/RELAY]]",
                                         "{\"to\":\"A\",\"type\":\"message\",\"body\":\"x\"}",
                                         "text",
                                         " ",
                                         "  ",
                                         "- ",
                                         "1. ",
                                         "> ",
                                         "│ ",
                                         "\\",
                                         "`",
                                         "<thinking>",
                                         "</thinking>",
                                         "->relay-file:m1",
                                         "spawn W claude \"t\"",
                                         "release W",
                                         "\r\n",
                                         "é",
                                         "\x1b[1m",
                                         ":",
                                         "| a |",
                                         "[[RELAY_METADATA]]",
                                         "Relay message from X",
                                         "[thread:t] "};
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SeededRandom random{seed};
    std::string text;
    const auto count = 1 + random.below(40);
    for (std::uint64_t i = 0; i < count; ++i) text += kParts[random.below(std::size(kParts))];
    const auto whole = extract(text);
    for (std::size_t cut = 0; cut <= text.size(); ++cut)
      ASSERT_EQ(extract_in_two(text, cut), whole) << "seed " << seed << ", cut at byte " << cut << ": " << text;
  }
}

TEST(Extractor, DistinguishesEqualCommandsByLocation) {
  Extractor extractor;
  auto first = extractor.feed("@relay:Bob hi\n@relay:Bob hi\n");
  for (auto& command : extractor.finish()) first.push_back(command);
  auto second = extractor.feed("  @relay:Bob hi");
  for (auto& command : extractor.finish()) second.push_back(command);
  ASSERT_EQ(first.size(), 2U);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(location_of(first[0]), (SourceLocation{0, 1, 0}));
  EXPECT_EQ(location_of(first[1]), (SourceLocation{14, 2, 0}));
  EXPECT_EQ(location_of(second[0]), (SourceLocation{28, 3, 2}));
  EXPECT_EQ(extractor.offset(), 43U);
}

TEST(Extractor, IgnoresFencesOfEveryKind) {
  for (const std::string_view text :
       {"~~~\n@relay:Bob no\n~~~\n", "   ```\n   @relay:Bob no\n   ```\n", "- ```text\n  @relay:Bob no\n  ```\n",
        "1. Like so:\n\n   ```\n   @relay:Bob no\n   ```\n", "> ```\n> @relay:Bob no\n> ```\n",
        "````\n```\n@relay:Bob no\n```\n@relay:Bob no\n````\n", "```\n~~~\n@relay:Bob no\n```\n",
        "~~~ ` ~~~\n@relay:Bob no\n~~~\n", "```\n@relay:Bob <<<\nno\n>>>\n```\n"})
    EXPECT_TRUE(extract(text).empty()) << text;
}

TEST(Extractor, ExtractsAfterFence) {
  EXPECT_EQ(only_body("> ```\n> @relay:Bob no\n@relay:Bob yes\n"), "yes") << "leaving the quote ends its fence";
  EXPECT_EQ(only_body("``` one line ```\n@relay:Bob yes\n"), "yes") << "code on one line opens no fence";
  EXPECT_EQ(only_body("````\n```\n````\n@relay:Bob yes\n"), "yes");
}

TEST(Extractor, ReportsCommandsHiddenByUnclosedFence) {
  EXPECT_NE(only_error("```\n@relay:Bob one\n@relay:Bob two\n").find("2 commands"), std::string::npos);
  EXPECT_NE(only_error("<thinking>\n@relay:Bob one\n").find("1 command "), std::string::npos);
  EXPECT_TRUE(extract("```\nno command\n").empty());
}

TEST(Extractor, MessageInListItemEndsWithItem) {
  EXPECT_EQ(bodies("- @relay:Bob please review\n  this file\n- Then I run the tests.\n"),
            Bodies{"please review\nthis file"});
  EXPECT_EQ(bodies("1. @relay:Bob go:\n2. Wait.\n"), Bodies{"go:"});
  EXPECT_EQ(bodies("@relay:Bob go:\n1. one\n2. two\n\n3. three\n\nEnd.\n"), Bodies{"go:\n1. one\n2. two\n\n3. three"});
}

TEST(Extractor, NumberedListAfterFinishedMessageIsSeparate) {
  EXPECT_EQ(bodies("@relay:Bob done.\n\n1. Next step\n"), Bodies{"done."});
}

TEST(Extractor, ReadsBodiesBetweenMarks) {
  EXPECT_EQ(only_body("@relay:Bob <<<one line>>>\n"), "one line");
  EXPECT_EQ(only_body("@relay:Bob <<< first\nsecond >>>\n"), "first\nsecond");
  EXPECT_EQ(only_body("@relay:Bob <<<\n<<<<<<< HEAD\n=======\n>>>>>>> main\n>>>\n"),
            "<<<<<<< HEAD\n=======\n>>>>>>> main");
  EXPECT_EQ(only_body("@relay:Bob <<<\n```python\n>>> print(1)\n```\n>>>\n"), "```python\n>>> print(1)\n```");
  EXPECT_EQ(only_body("@relay:Bob <<<\na\n\n\nb\n>>>\n"), "a\n\n\nb") << "two empty lines do not end the body";
  EXPECT_EQ(only_body("> @relay:Bob <<<\n> a\n> b\n> >>>\n"), "a\nb");
  EXPECT_EQ(only_body("@relay:Bob <<<\n- write @relay:Eve hi\n- @relay:Eve hi\n>>>\n"),
            "- write @relay:Eve hi\n- @relay:Eve hi");
}

TEST(Extractor, ContinuesAfterClosingMark) {
  EXPECT_EQ(bodies("@relay:Bob <<<\na\n>>> @relay:Eve b\n"), (Bodies{"a", "b"}));
}

TEST(Extractor, ExtractsSpawnAndRelease) {
  const auto commands = extract(
      "@relay:spawn W1 claude \"say \\\"hi\\\"\"\n@relay:spawn W2 codex <<<\na\nb\n>>>\n"
      "@relay:Spawn W3 gemini\n@relay:release W1\n");
  ASSERT_EQ(commands.size(), 4U);
  EXPECT_EQ(std::get<SpawnCommand>(commands[0]).task, "say \"hi\"");
  EXPECT_EQ(std::get<SpawnCommand>(commands[1]).task, "a\nb");
  EXPECT_EQ(std::get<SpawnCommand>(commands[2]).cli, "gemini");
  EXPECT_EQ(std::get<ReleaseCommand>(commands[3]).name, "W1");
}

TEST(Extractor, ReleaseRequiresSingleName) {
  EXPECT_NE(only_error("@relay:release notes are ready\n").find("no agent was released"), std::string::npos);
  EXPECT_NE(only_error("@relay:spawn W1 claude \"open\n").find("no agent was spawned"), std::string::npos);
  EXPECT_NE(only_error("@relay:spawn W1\n").find("program"), std::string::npos);
}

TEST(Extractor, ReportsInvalidCommands) {
  EXPECT_NE(only_error("@relay: hello\n").find("no name"), std::string::npos);
  EXPECT_NE(only_error("@relay:Bob\n").find("no text for Bob"), std::string::npos);
  EXPECT_NE(only_error("@relay:AgentName hi\n").find("example"), std::string::npos);
  EXPECT_NE(only_error("**@relay:Bob** hi\n").find("cannot contain '*'"), std::string::npos);
  EXPECT_NE(only_error("@relay:<name> hi\n").find("cannot contain '<'"), std::string::npos);
  EXPECT_NE(only_error("[[RELAY]]{\"to\":\"Bob\"}[[/RELAY]]\n").find("\"type\""), std::string::npos);
  EXPECT_NE(only_error("[[RELAY]]{\"to\":\"Bob\",\"type\":\"poem\"}[[/RELAY]]\n").find("poem"), std::string::npos);
  EXPECT_NE(only_error("@relay:Bob <<<\n\n").find("is empty"), std::string::npos);
}

TEST(Extractor, UnclosedBlockHidesNoCommands) {
  const auto commands =
      extract("[[RELAY]]{\"to\":\"Bob\",\n@relay:Eve hello\n[[RELAY]]{\"to\":\"A\",\"type\":\"message\"}[[/RELAY]]\n");
  ASSERT_EQ(commands.size(), 3U);
  EXPECT_TRUE(std::holds_alternative<CommandError>(commands[0]));
  EXPECT_EQ(std::get<SendCommand>(commands[1]).body, "hello");
  EXPECT_EQ(std::get<SendCommand>(commands[2]).to, "A");
}

TEST(Extractor, ExtractsConsecutiveBlocksOnOneLine) {
  EXPECT_EQ(bodies("[[RELAY]]{\"to\":\"A\",\"type\":\"message\",\"body\":\"1\"}[[/RELAY]] "
                   "[[RELAY]]{\"to\":\"A\",\"type\":\"message\",\"body\":\"2\"}[[/RELAY]]\n"),
            (Bodies{"1", "2"}));
}

TEST(Extractor, RepairsLineEndsInJsonStrings) {
  EXPECT_EQ(only_body("[[RELAY]]{\"to\":\"A\",\"type\":\"message\",\"body\":\"one\ntwo\"}[[/RELAY]]\n"), "one\ntwo");
}

TEST(Extractor, ExtractsChannelsEveryoneAndOtherProjects) {
  const auto commands = extract("@relay:#dev hi\n@relay:* hi\n@relay:web:Bob hi\n");
  ASSERT_EQ(commands.size(), 3U);
  EXPECT_EQ(std::get<SendCommand>(commands[0]).to, "#dev");
  EXPECT_EQ(std::get<SendCommand>(commands[1]).to, "*");
  EXPECT_EQ(std::get<SendCommand>(commands[2]).project, "web");
}

TEST(Extractor, ExtractsFileCommandsOutsideCodeOnly) {
  const auto commands = extract(
      "I send it: ->relay-file:m1. And `->relay-file:m2`, \\->relay-file:m3, ->relay-file:../x\n"
      "```\n->relay-file:m4\n```\n");
  ASSERT_EQ(commands.size(), 1U);
  EXPECT_EQ(std::get<SendFileCommand>(commands[0]).id, "m1");
}

TEST(Extractor, RepairsMalformedCharacters) {
  EXPECT_EQ(only_body("@relay:Bob a\xff"
                      "b\xc3\n"),
            "a\ufffdb\ufffd");
  EXPECT_EQ(only_body("@relay:Bob \xed\xa0\x80 \xe2\x82\xac\n"), "\ufffd €");
}

TEST(Extractor, ReportsOverlongLine) {
  const std::string text = "@relay:Bob " + std::string(kMaxLineBytes, 'x') + "\n@relay:Bob next\n";
  for (const std::size_t cut : {std::size_t{0}, std::size_t{5}, kMaxLineBytes, kMaxLineBytes + 5, text.size()}) {
    const auto commands = extract_in_two(text, cut);
    ASSERT_EQ(commands.size(), 2U);
    EXPECT_TRUE(std::holds_alternative<CommandError>(commands[0]));
    EXPECT_EQ(std::get<SendCommand>(commands[1]).body, "next");
  }
}

TEST(Extractor, ReportsOverlongBody) {
  std::string text = "@relay:Bob <<<\n";
  while (text.size() < kMaxBodyBytes + 100) text += std::string(99, 'x') + "\n";
  EXPECT_NE(only_error(text + ">>>\n").find("too long"), std::string::npos);
}

/// Hostile input costs time linear in its size. The bound is generous, because the machine may be busy.
TEST(Extractor, HostileTextTakesLinearTime) {
  const auto cost = [](std::string_view unit, std::size_t bytes, std::string_view end) {
    std::string text;
    while (text.size() < bytes) text += unit;
    text += end;
    const auto start = std::clock();  // processor time, which other processes do not lengthen
    (void)extract(text);
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  };
  for (const std::string_view unit : {">", "- ", "1. ", "[[RELAY]]", "[[RELAY]]\n", "[[RELAY_METADATA]]\n", "```\n",
                                      "<thinking>\n</thinking>[[RELAY]]\n", "\x1b[", "\x1b]", "->relay-file:",
                                      "`->relay-file:a", "\\@relay:", "@relay:B <<<\n", "\n", "@relay:Bob x:\n\n"}) {
    (void)cost(unit, 1 << 13, "\n");
    const auto small = cost(unit, 1 << 13, "\n");
    const auto large = cost(unit, 1 << 18, "\n");  // 32 times as much; the square would be 1024
    EXPECT_LT(large, 200 * small + 0.1) << unit;
  }
}

TEST(Extractor, OrdinaryTextYieldsNothing) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "We relay: nothing here, mail@relay.example and - lists.\n- item\n> quote\n";
  EXPECT_TRUE(extract(text).empty());
}

}  // namespace
}  // namespace relay::commands
