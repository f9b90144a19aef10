#include "profiles/pattern_detector.h"

#include <gtest/gtest.h>

#include "commands/testing/case_files.h"
#include "profiles/default_patterns.h"
#include "profiles/screen_findings.h"

namespace relay::profiles {
namespace {

const PatternDetector& detector() {
  static const PatternDetector made = *PatternDetector::compile(default_patterns());
  return made;
}

ScreenFindings found(const std::vector<std::string>& rows) { return detect(detector(), rows); }

json::array labels_of(const std::vector<DialogChoice>& choices) {
  json::array labels;
  for (const auto& choice : choices)
    labels.emplace_back(choice.key.empty() ? choice.label : choice.label + " = " + choice.key);
  return labels;
}

json::object summary(const ScreenFindings& findings) {
  json::object out;
  if (const auto& prompt = findings.permission)
    out["permission"] = {{"tool", prompt->tool}, {"command", prompt->command}, {"choices", labels_of(prompt->choices)}};
  if (const auto& question = findings.question)
    out["question"] = {{"text", question->text}, {"choices", labels_of(question->choices)}};
  json::array limits;
  for (const auto& limit : findings.limits) limits.push_back({{"what", limit.what}, {"resets", limit.resets}});
  if (!limits.empty()) out["limits"] = limits;
  json::array usage;
  for (const auto& each : findings.usage) {
    json::object line;
    if (each.input_tokens) line["input"] = *each.input_tokens;
    if (each.output_tokens) line["output"] = *each.output_tokens;
    if (each.cached_tokens) line["cached"] = *each.cached_tokens;
    if (each.total_tokens) line["total"] = *each.total_tokens;
    if (each.cost_dollars) line["cost"] = *each.cost_dollars;
    usage.push_back(line);
  }
  if (!usage.empty()) out["usage"] = usage;
  return out;
}

TEST(Detector, ReadsTheDialogsOfRealAgents) {
  const auto file = commands::testing::load_cases("dialogs.json");
  for (const auto& value : file.as_array()) {
    std::vector<std::string> rows;
    for (const auto& row : value.at("rows").as_array()) rows.emplace_back(row.as_string());
    EXPECT_EQ(summary(found(rows)), value.at("expected").as_object())
        << value.at("recording") << " " << value.at("label");
  }
}

/// For a program whose dialogs start with a horizontal rule.
ScreenFindings framed(const std::vector<std::string>& rows) {
  return detect(detector(), rows, [&](std::size_t head) -> std::optional<std::size_t> {
    while (head-- > 0)
      if (rows[head].starts_with("────")) return head;
    return std::nullopt;
  });
}

TEST(Detector, ReportsTheWholeTextOfADialog) {
  const auto dialog = *framed({"● Bash(git push)", "────────", " Bash command", "   make", "   and install",
                               " Do you want to proceed?", " ❯ 1. Yes", "   2. No"})
                           .permission;
  EXPECT_TRUE(dialog.is_complete);
  EXPECT_EQ(dialog.body, "Bash command\nmake\nand install\nDo you want to proceed?");
  EXPECT_EQ(dialog.command, "") << "the row above it is another call";
  EXPECT_TRUE(dialog.choices[0].marked);
  EXPECT_FALSE(dialog.choices[1].marked);
}

TEST(Detector, ReadsTheCallAboveADialog) {
  const auto dialog = *framed({"● Bash(make)", "────────", " Bash command", "   make", " Do you want to proceed?",
                               " ❯ 1. Yes", "   2. No"})
                           .permission;
  EXPECT_EQ(dialog.command, "make");
}

TEST(Detector, MarksADialogWithoutFirstRowAsPartial) {
  EXPECT_FALSE(framed({" Bash command", "   make", " Do you want to proceed?", " ❯ 1. Yes", "   2. No"})
                   .permission->is_complete);
  EXPECT_FALSE(found({"────────", " Do you want to proceed?", " ❯ 1. Yes", "   2. No"}).permission->is_complete);
}

TEST(Detector, TakesTheLowestListAndMarksTwoAsPartial) {
  const auto dialog = *framed({"────────", "Would you like to run the following command?", "$ echo '",
                               "› 1. Yes, proceed (y)", "  2. No, and tell Codex (esc)", "'; rm -rf ~",
                               "  1. Yes, proceed (y)", "› 2. No, and tell Codex (esc)"})
                           .permission;
  EXPECT_FALSE(dialog.is_complete);
  EXPECT_NE(dialog.body.find("rm -rf ~"), std::string::npos);
  ASSERT_EQ(dialog.choices.size(), 2U);
  EXPECT_TRUE(dialog.choices[1].marked);
}

TEST(Detector, MarksTwoQuestionsAsPartial) {
  EXPECT_FALSE(framed({"────────", "Do you want to proceed?", " ❯ 1. Yes", "   2. No", "Do you want to proceed?",
                       " ❯ 1. Yes", "   2. No"})
                   .permission->is_complete);
}

TEST(Detector, ReadsUsageLines) {
  const auto usage = found({"  15.2k input, 812 output"}).usage;
  ASSERT_EQ(usage.size(), 1U);
  EXPECT_EQ(usage[0].input_tokens, 15'200);
  EXPECT_EQ(usage[0].output_tokens, 812);
  EXPECT_EQ(found({"✻ Baking… (4s · ↓ 30 tokens · esc to interrupt)"}).usage.at(0).output_tokens, 30);
}

TEST(Detector, ReadsLimitLines) {
  const auto plan = found({"● You've hit your 5-hour limit · resets 10:35am (UTC)"}).limits;
  ASSERT_EQ(plan.size(), 1U);
  EXPECT_EQ(plan[0].what, "5-hour limit");
  EXPECT_EQ(plan[0].resets, "10:35am (UTC)");
  const auto codex = found({"■ You’ve hit your usage limit. Upgrade to Pro or try again at 10:01 AM."}).limits;
  ASSERT_FALSE(codex.empty());
  EXPECT_EQ(codex[0].resets, "10:01 AM");
  EXPECT_EQ(found({"■ exceeded retry limit, last status: 429 Too Many Requests, request id: x"}).limits.size(), 1U);
}

TEST(Detector, ReadsOtherDialogs) {
  const auto mcp = found({"Allow the files MCP server to run tool \"read\"?", "› 1. Allow", "  2. Cancel"});
  ASSERT_TRUE(mcp.permission);
  EXPECT_EQ(mcp.permission->tool, "files MCP server");
  const auto limit = found({"  Approaching rate limits", "  Switch to a smaller model?", "› 1. Switch", "  2. Keep"});
  ASSERT_TRUE(limit.question);
  EXPECT_EQ(limit.question->choices.size(), 2U);
}

TEST(Detector, ReadsChoicesWithoutNumbersAndBesideTheQuestion) {
  const std::vector<Pattern> patterns = {
      {"ask", Role::QuestionHead, R"(^(?P<text>.+\?) (?P<labels>\(Y\)es/.+) \[)"},
      {"allow", Role::PermissionHead, R"(^(?P<tool>shell), do you allow\?$)"},
      {"anything", Role::PermissionCommand, R"(^(?P<command>\S.*)$)"},
      {"choice", Role::Choice, R"(^[●○] (?P<label>\w+)$)"},
  };
  const auto made = PatternDetector::compile(patterns);
  const std::vector<std::string> beside = {"Run it? (Y)es/(N)o/(D)on't ask again [Yes]: "};
  EXPECT_EQ(detect(*made, beside).question->choices,
            (std::vector<DialogChoice>{{"", "Yes", "y"}, {"", "No", "n"}, {"", "Don't ask again", "d"}}));
  const std::vector<std::string> below = {"rm -r build", "shell, do you allow?", "● Allow", "○ Deny"};
  const auto permission = detect(*made, below).permission;
  ASSERT_TRUE(permission);
  EXPECT_EQ(permission->command, "rm -r build");
  EXPECT_EQ(permission->choices, (std::vector<DialogChoice>{{"", "Allow", ""}, {"", "Deny", ""}}));
}

TEST(Detector, FindsNoDialogInProse) {
  const auto findings = found({"● The tool asks:", "  Do you want to proceed?", "", "  I think 1. yes would do."});
  EXPECT_FALSE(findings.permission);
}

TEST(Detector, NamesAnInvalidPattern) {
  const Pattern broken{"mine", Role::Usage, "(unclosed"};
  const auto result = PatternDetector::compile({&broken, 1});
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message().find("pattern mine"), std::string::npos);
}

TEST(Detector, FindsNothingWithoutPatterns) {
  const auto none = PatternDetector::compile({});
  ASSERT_TRUE(none);
  const std::vector<std::string> rows{"anything"};
  EXPECT_TRUE(none->matches(rows).empty());
}

TEST(ParseCount, AcceptsSeparatorsAndSuffixes) {
  EXPECT_EQ(parse_count("11,950"), 11'950);
  EXPECT_EQ(parse_count("11.9K"), 11'900);
  EXPECT_EQ(parse_count("1.5M"), 1'500'000);
  EXPECT_EQ(parse_count(""), std::nullopt);
  EXPECT_EQ(parse_count("many"), std::nullopt);
  EXPECT_EQ(parse_count("99999999999999999999M"), std::nullopt);
}

}  // namespace
}  // namespace relay::profiles
