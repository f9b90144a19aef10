// An agent at home: wrapped in a terminal, heard when it speaks, spoken to when nobody minds.
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>

#include "base/format.h"
#include "cli/terminal.h"

namespace relay::cli_tests {
namespace {

constexpr const char* kProfile = R"(
name = "scripted"
commands = ["scripted_agent"]
reports_status = true
[composer]
first = '^│ > (.*?) *│?$'
above = '^╭─{5,}'
below = '^╰─{5,}'
[[row]]
kind = "user"
pattern = '^> '
[[row]]
kind = "say"
pattern = '^● '
)";

constexpr const char* kRules = R"({"rules": [
  {"contains": "greet", "reply": "I will.\n\n@relay:Bob hello from Alice\n\nDone."},
  {"contains": "Relay message from Alice", "reply": "She wrote.\n\n@relay:Alice got it\n\nEnd."},
  {"contains": "delete", "dialog": {"title": "Run rm?", "options": ["Yes", "No"]}, "reply": "ran it", "denied": "left it"}
  ], "default": {"reply": "fine"}})";

struct Agents : testing::Test {
  Sandbox box;
  Agents() {
    box.ok({"up"});
    std::filesystem::create_directories(box.home() + "/profiles");
    std::ofstream{box.home() + "/profiles/scripted.toml"} << kProfile;
    std::ofstream{box.project() + "/rules.json"} << kRules;
  }

  std::vector<std::string> words(const std::string& name, const std::vector<std::string>& more = {}) {
    std::vector<std::string> all = {"-n", name, SCRIPTED_AGENT, "--status", "--work-ms", "50"};
    for (const auto& each :
         {std::string{"--script"}, box.project() + "/rules.json", std::string{"--log"}, log_of(name)})
      all.push_back(each);
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  std::string log_of(const std::string& name) { return box.project() + "/" + name + ".log"; }

  /// What reached the agent, in order: the texts it was given by Enter.
  std::vector<std::string> submitted(const std::string& name) {
    std::vector<std::string> texts;
    for (const auto& event : events(name))
      if (string_member(event, "event") == "submit") texts.push_back(string_member(event, "text").value_or(""));
    return texts;
  }
  std::vector<json::object> events(const std::string& name) {
    std::vector<json::object> all;
    std::ifstream file{log_of(name)};
    for (std::string line; std::getline(file, line);)
      if (auto event = parse_json_object(line)) all.push_back(*std::move(event));
    return all;
  }
  bool has(const std::string& name, const std::string& text) {
    const auto all = submitted(name);
    return std::any_of(all.begin(), all.end(), [&](const auto& each) { return each.find(text) != std::string::npos; });
  }
  /// The ledger of the newest message.
  std::string ledger() {
    const auto log = box.ok_json({"search", "words"});
    return box.ok({"trace", std::string{log.at("messages").as_array().back().as_object().at("id").as_string()}});
  }
  bool is_here(const std::string& name) {
    return eventually([&] { return box.ok({"agents"}).find(name) != std::string::npos; });
  }
};

TEST_F(Agents, TwoConverseThroughTheDaemon) {
  Terminal bob{box, words("Bob")}, alice{box, words("Alice")};
  ASSERT_TRUE(is_here("Alice") && is_here("Bob"));
  ASSERT_TRUE(alice.shows("Scripted agent")) << alice.screen();
  alice.type("greet");
  ASSERT_TRUE(alice.shows("greet"));
  alice.type("\r");
  EXPECT_TRUE(eventually([&] { return has("Bob", "hello from Alice"); }));
  EXPECT_TRUE(eventually([&] { return has("Alice", "got it"); }));
  EXPECT_EQ(submitted("Bob").size(), 1u);
  EXPECT_EQ(submitted("Alice").size(), 2u);
}

TEST_F(Agents, AHalfLineIsNeverTouched) {
  Terminal bob{box, words("Bob")};
  ASSERT_TRUE(is_here("Bob") && bob.shows("Scripted agent"));
  bob.type("half a li");
  ASSERT_TRUE(bob.shows("half a li"));
  box.ok({"send", "Bob", "these are words"});
  EXPECT_TRUE(eventually([&] { return ledger().find("the composer holds a draft") != std::string::npos; })) << ledger();
  bob.type("ne\r");
  EXPECT_TRUE(eventually([&] { return has("Bob", "these are words"); }));
  EXPECT_EQ(submitted("Bob").at(0), "half a line");
  EXPECT_EQ(submitted("Bob").size(), 2u);
}

TEST_F(Agents, NothingIsWrittenIntoADialog) {
  Terminal bob{box, words("Bob")};
  ASSERT_TRUE(is_here("Bob") && bob.shows("Scripted agent"));
  bob.type("delete");
  ASSERT_TRUE(bob.shows("delete"));
  bob.type("\r");
  ASSERT_TRUE(bob.shows("Run rm?")) << bob.screen();
  box.ok({"send", "Bob", "these are words"});
  EXPECT_TRUE(eventually([&] { return ledger().find("a dialog is open") != std::string::npos; })) << ledger();
  for (const auto& event : events("Bob")) {
    EXPECT_NE(string_member(event, "event"), "answer");
    EXPECT_NE(string_member(event, "event"), "swallowed");
  }
  bob.type("\x1b");
  EXPECT_TRUE(eventually([&] { return has("Bob", "these are words"); }));
}

TEST_F(Agents, ASwallowedEnterIsPressedOnceMore) {
  Terminal bob{box, words("Bob", {"--swallow-enter", "1"})};
  ASSERT_TRUE(is_here("Bob") && bob.shows("Scripted agent"));
  box.ok({"send", "Bob", "these are words"});
  EXPECT_TRUE(eventually([&] { return has("Bob", "these are words"); }));
  EXPECT_TRUE(eventually([&] { return ledger().find("submitted") != std::string::npos; })) << ledger();
  EXPECT_EQ(submitted("Bob").size(), 1u);
}

TEST_F(Agents, ADaemonThatWasAwayCostsNothing) {
  Terminal bob{box, words("Bob")}, alice{box, words("Alice")};
  ASSERT_TRUE(is_here("Alice") && is_here("Bob") && alice.shows("Scripted agent"));
  box.kill_daemon();
  alice.type("greet");
  ASSERT_TRUE(alice.shows("greet"));
  alice.type("\r");
  ASSERT_TRUE(alice.shows("Done."));
  box.ok({"up"});
  EXPECT_TRUE(eventually([&] { return has("Bob", "hello from Alice"); }));
  EXPECT_EQ(submitted("Bob").size(), 1u);
}

TEST_F(Agents, AHostThatDiedGivesItsNameToTheNext) {
  {
    Terminal bob{box, words("Bob")};
    ASSERT_TRUE(is_here("Bob") && bob.shows("Scripted agent"));
  }  // killed
  Terminal bob{box, words("Bob")};
  ASSERT_TRUE(bob.shows("Scripted agent"));
  box.ok({"send", "Bob", "these are words"});
  EXPECT_TRUE(eventually([&] { return has("Bob", "these are words"); }));
}

TEST_F(Agents, WhatWasBeingTypedWhenTheHostDiedIsInDoubtAndNeverTypedAgain) {
  {
    Terminal bob{box, words("Bob", {"--swallow-enter", "9"})};
    ASSERT_TRUE(is_here("Bob") && bob.shows("Scripted agent"));
    box.ok({"send", "Bob", "these are words"});
    ASSERT_TRUE(bob.shows("these are words"));
  }  // killed with the text in the composer
  Terminal bob{box, words("Bob")};
  ASSERT_TRUE(bob.shows("Scripted agent"));
  EXPECT_TRUE(eventually([&] { return ledger().find("in_doubt") != std::string::npos; })) << ledger();
  EXPECT_FALSE(has("Bob", "these are words"));
}

TEST_F(Agents, EndsAsTheAgentEnds) {
  Terminal bob{box, words("Bob")};
  ASSERT_TRUE(bob.shows("Scripted agent"));
  bob.type("/exit");
  ASSERT_TRUE(bob.shows("/exit"));
  bob.type("\r");
  EXPECT_EQ(bob.finish(), 0);
  const auto missing = box.run({"run", "no-such-program"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_NE(missing.err.find("no-such-program"), std::string::npos) << missing.err;
}

}  // namespace
}  // namespace relay::cli_tests
