#include "cli/framework/parse.h"

#include <gtest/gtest.h>

#include "cli/framework/global_options.h"

namespace relay::cli {
namespace {

Run run_of(const std::vector<std::string>& words) {
  auto parsed = parse_command_line(words);
  EXPECT_TRUE(parsed.has_value()) << parsed.error().message();
  EXPECT_TRUE(std::holds_alternative<Run>(*parsed));
  return std::get<relay::cli::Run>(*parsed);
}

std::string error_of(const std::vector<std::string>& words) {
  const auto parsed = parse_command_line(words);
  return parsed ? "" : parsed.error().message();
}

TEST(Parse, NoArgumentsOrHelpShowsOverview) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{}, {"--help"}, {"-h"}, {"help"}}) {
    const auto parsed = parse_command_line(words);
    ASSERT_TRUE(parsed.has_value());
    EXPECT_EQ(std::get<WantsHelp>(*parsed).command, nullptr);
  }
}

TEST(Parse, HelpOptionShowsHelpOfCommand) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"send", "--help"}, {"send", "-h"}, {"help", "send"}, {"send", "Bob", "--help"}}) {
    const auto parsed = parse_command_line(words);
    ASSERT_TRUE(parsed.has_value());
    EXPECT_EQ(std::get<WantsHelp>(*parsed).command, find_command("send"));
  }
}

TEST(Parse, OptionsMayAppearAnywhere) {
  const auto run = run_of({"send", "--wait", "Bob", "--timeout", "5s", "hello", "there", "--json"});
  EXPECT_EQ(run.command, find_command("send"));
  EXPECT_TRUE(run.invocation.has("--wait"));
  EXPECT_TRUE(run.invocation.has("--json"));
  EXPECT_EQ(run.invocation.value("--timeout"), "5s");
  EXPECT_EQ(run.invocation.argument(0), "Bob");
  EXPECT_EQ(run.invocation.rest(1), "hello there");
}

TEST(Parse, EqualsSignGivesValue) { EXPECT_EQ(run_of({"inbox", "--limit=3"}).invocation.value("--limit"), "3"); }

TEST(Parse, TwoDashesEndOptions) {
  const auto run = run_of({"send", "Bob", "--", "--wait", "-x", "--"});
  EXPECT_EQ(run.invocation.rest(1), "--wait -x --");
  EXPECT_FALSE(run.invocation.has("--wait"));
}

TEST(Parse, SingleDashIsArgument) { EXPECT_EQ(run_of({"send", "Bob", "-"}).invocation.rest(1), "-"); }

TEST(Parse, TextIsUnchanged) {
  EXPECT_EQ(run_of({"send", "Bob", "up"}).invocation.rest(1), "up") << "a command's name is only a word here";
  EXPECT_EQ(run_of({"send", "*", "a=b c:d \"e\" 'f' [g] {h} %i"}).invocation.rest(1), "a=b c:d \"e\" 'f' [g] {h} %i");
  EXPECT_EQ(run_of({"send", "Bob", "line one\nline two"}).invocation.rest(1), "line one\nline two");
}

TEST(Parse, UnknownCommandSuggestsNearest) {
  EXPECT_EQ(error_of({"stauts"}), "unknown command \"stauts\"; did you mean status?");
  EXPECT_EQ(error_of({"qqqqqqqqqqqq"}), "unknown command \"qqqqqqqqqqqq\"; see: agent-relay --help");
}

TEST(Parse, UnknownOptionIsOneLineError) {
  EXPECT_EQ(error_of({"send", "Bob", "hi", "--wiat"}), "send has no option --wiat; did you mean --wait?");
  EXPECT_EQ(error_of({"status", "--qqqqqqqqqqq"}),
            "status has no option --qqqqqqqqqqq; see: agent-relay status --help");
  EXPECT_EQ(error_of({"--frobnicate"}), "unknown option --frobnicate; see: agent-relay --help");
}

TEST(Parse, MissingAndExtraArgumentsShowUsage) {
  EXPECT_EQ(error_of({"send"}), "send needs TO; usage: agent-relay send TO TEXT");
  EXPECT_EQ(error_of({"send", "Bob"}), "send needs TEXT; usage: agent-relay send TO TEXT");
  EXPECT_EQ(error_of({"spawn", "Bob"}), "spawn needs CLI; usage: agent-relay spawn NAME CLI [TASK]");
  EXPECT_EQ(error_of({"status", "now"}), "status does not take \"now\"; usage: agent-relay status");
}

TEST(Parse, ValueMustBePresentAndAllowed) {
  EXPECT_NE(error_of({"inbox", "--limit"}), "");
  EXPECT_EQ(error_of({"up", "--storage", "floppy"}), "--storage cannot be \"floppy\": choose one of sqlite|memory");
  EXPECT_EQ(error_of({"up", "--storage", "sqlite|memory"}),
            "--storage cannot be \"sqlite|memory\": choose one of sqlite|memory");
}

TEST(Parse, AgentArgumentsAreUnchanged) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"-n", "Alice", "claude", "--json", "-p", "hello"},
        std::vector<std::string>{"run", "-n", "Alice", "claude", "--json", "-p", "hello"},
        std::vector<std::string>{"-n", "Alice", "run", "claude", "--json", "-p", "hello"},
        std::vector<std::string>{"run", "--name", "Alice", "--", "claude", "--json", "-p", "hello"}}) {
    const auto parsed = parse_command_line(words);
    ASSERT_TRUE(parsed) << parsed.error().message();
    const auto& run = std::get<relay::cli::Run>(*parsed);
    EXPECT_EQ(run.command->name, "run");
    EXPECT_EQ(run.invocation.value("--name"), "Alice");
    EXPECT_EQ(run.invocation.argument(0), "claude");
    EXPECT_EQ(run.invocation.argument(1), "--json");
    EXPECT_EQ(run.invocation.argument_count(), 4u);
  }
  EXPECT_EQ(error_of({"-n", "Alice"}), "run needs CMD; usage: agent-relay run [-n NAME] CMD");
}

TEST(Parse, MissingValueErrorHasExample) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"send", "Bob", "x", "--from"}, {"send", "Bob", "x", "--from", "--wait"}})
    EXPECT_EQ(parse_command_line(words).error().message(), "--from needs NAME, for example: --from Alice");
}

TEST(Parse, OptionalValueMayBeOmitted) {
  EXPECT_EQ(run_of({"send", "--wait", "Bob", "hello"}).invocation.value("--wait"), "delivered");
  EXPECT_EQ(run_of({"send", "Bob", "hello", "--wait"}).invocation.value("--wait"), "delivered");
  EXPECT_EQ(run_of({"send", "Bob", "--wait", "hello"}).invocation.rest(1), "hello");
  EXPECT_EQ(error_of({"send", "Bob", "--wait", "sene"}),
            "--wait cannot be \"sene\": choose one of accepted|delivered|seen, or put --wait last");
  const auto seen = run_of({"send", "Bob", "--wait", "seen", "hello"});
  EXPECT_EQ(seen.invocation.value("--wait"), "seen");
  EXPECT_EQ(seen.invocation.rest(1), "hello");
  EXPECT_EQ(run_of({"send", "Bob", "x", "--wait=accepted"}).invocation.value("--wait"), "accepted");
  EXPECT_EQ(run_of({"send", "Bob", "--", "--wait", "seen"}).invocation.rest(1), "--wait seen");
  EXPECT_EQ(error_of({"send", "Bob", "x", "--wait=read"}),
            "--wait cannot be \"read\": choose one of accepted|delivered|seen");
}

TEST(Parse, WrongOptionalValueIsNotText) {
  for (const std::string word : {"submitted", "written", "read", "yes", "sene"}) {
    const auto expected =
        "--wait cannot be \"" + word + "\": choose one of accepted|delivered|seen, or put --wait last";
    EXPECT_EQ(error_of({"send", "Bob", "hi", "--wait", word}), expected);
    EXPECT_EQ(error_of({"send", "Bob", "--wait", word, "hi"}), expected);
    EXPECT_EQ(error_of({"send", "Bob", "hi", "--wait", word, "--json"}), expected);
  }
  EXPECT_NE(error_of({"send", "Bob", "--wait", "submitted"}), "") << "the name of a proof is not a text either";
  EXPECT_NE(error_of({"send", "--wait", "submitted", "Bob", "hi"}), "") << "nor a recipient";
}

TEST(Parse, TextMustBeContiguous) {
  EXPECT_EQ(error_of({"send", "Bob", "hi", "--ask", "10m"}),
            "\"10m\" is separated from the rest of the text by options; put the text in one place, in quotes");
  EXPECT_NE(error_of({"send", "Bob", "hi", "--urgent", "yes"}), "");
  EXPECT_NE(error_of({"spawn", "Bob", "claude", "review", "--model", "opus", "now"}), "");
  EXPECT_NE(error_of({"input", "Bob", "hi", "--key", "Escape", "there"}), "");
  EXPECT_EQ(error_of({"send", "Bob", "hi", "--frobnicate", "there"}),
            "send has no option --frobnicate; see: agent-relay send --help");
  EXPECT_EQ(run_of({"send", "--urgent", "Bob", "--from", "Ann", "hi", "there"}).invocation.rest(1), "hi there");
  EXPECT_EQ(run_of({"spawn", "Bob", "--model", "opus", "claude", "review", "it"}).invocation.rest(2), "review it");
  EXPECT_EQ(run_of({"search", "one", "--limit", "3", "two"}).invocation.rest(0), "one two") << "words, not a text";
}

TEST(Parse, OptionMayRepeat) {
  const auto run = run_of({"send", "--attach", "a.txt", "Bob", "see these", "--attach=b c.txt"});
  EXPECT_EQ(run.invocation.values("--attach"), (std::vector<std::string>{"a.txt", "b c.txt"}));
  EXPECT_EQ(run.invocation.rest(1), "see these");
  EXPECT_TRUE(run_of({"send", "Bob", "x"}).invocation.values("--attach").empty());
  EXPECT_EQ(run_of({"send", "Bob", "x", "--from", "A", "--from", "B"}).invocation.value("--from"), "B");
  EXPECT_EQ(error_of({"send", "Bob", "x", "--attach"}), "--attach needs FILE, for example: --attach report.txt");
  EXPECT_EQ(error_of({"send", "Bob", "x", "--attach", "--json"}),
            "--attach needs FILE, for example: --attach report.txt");
}

TEST(Parse, VersionHasThreeNames) {
  for (const auto* word : {"--version", "-V", "version"})
    EXPECT_TRUE(std::holds_alternative<WantsVersion>(parse_command_line({word}).value())) << word;
}

TEST(Parse, AgentNameInPlaceOfCommandRunsIt) {
  const auto is_agent = [](std::string_view word) { return word == "claude" || word == "send"; };
  const auto parsed = parse_command_line({"claude", "-p", "hello"}, is_agent);
  ASSERT_TRUE(parsed.has_value()) << parsed.error().message();
  const auto& run = std::get<relay::cli::Run>(*parsed);
  EXPECT_EQ(run.command, find_command("run"));
  EXPECT_EQ(run.invocation.argument(0), "claude");
  EXPECT_EQ(run.invocation.argument(1), "-p") << "options after the program belong to it";
  EXPECT_FALSE(parse_command_line({"clade"}, is_agent).has_value());
  EXPECT_EQ(std::get<relay::cli::Run>(*parse_command_line({"send", "Bob", "x"}, is_agent)).command,
            find_command("send"))
      << "a command comes first";
}

TEST(GlobalOptions, PrecedeCommand) {
  std::vector<std::string> words = {"-C", "one", "--no-start", "-C", "two", "send", "Bob", "x"};
  const auto options = take_global_options(words);
  ASSERT_TRUE(options.has_value());
  EXPECT_EQ(options->directories, (std::vector<std::string>{"one", "two"}));
  EXPECT_TRUE(options->no_start);
  EXPECT_EQ(words, (std::vector<std::string>{"send", "Bob", "x"}));
}

TEST(GlobalOptions, NoStartMayFollowCommandButNotArgumentsOfAnotherProgram) {
  std::vector<std::string> words = {"send", "Bob", "--no-start", "x", "--", "--no-start"};
  EXPECT_TRUE(take_global_options(words)->no_start);
  EXPECT_EQ(words, (std::vector<std::string>{"send", "Bob", "x", "--", "--no-start"}));
  words = {"run", "program", "--no-start"};
  EXPECT_FALSE(take_global_options(words)->no_start);
  EXPECT_EQ(words.size(), 3U);
}

}  // namespace
}  // namespace relay::cli
