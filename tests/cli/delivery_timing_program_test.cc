// A message arrives at a bad time: during a draft, as a dialog opens, during a resize. Nothing is typed into a dialog,
// no draft of the user is submitted, and the message arrives once.
#include <algorithm>
#include <csignal>

#include "base/format.h"
#include "cli/agents.h"

namespace relay::cli_tests {
namespace {

using namespace std::chrono_literals;

struct DeliveryTiming : Agents {
  /// The dialogs got the user's answers and no other input.
  void expect_only_answers(const std::string& name, std::size_t answers) {
    EXPECT_EQ(count(name, "answer"), answers);
    EXPECT_EQ(count(name, "swallowed"), 0u);
  }
  void expect_delivered_once(const std::string& id, const std::string& body) {
    EXPECT_TRUE(reaches_state(id, "delivered")) << trace_of(id).history;
    EXPECT_EQ(trace_of(id).proof, "submitted");
    EXPECT_EQ(submitted("Bob"), std::vector{delivered_line(id, body)});
  }
};

TEST_F(DeliveryTiming, DraftIsNeverTouched) {
  auto& bob = start_with_draft("Bob");
  const auto id = send_behind_draft("Bob", "these are words");
  bob.type("ne\r");
  EXPECT_TRUE(reaches_state(id, "delivered"));
  EXPECT_EQ(submitted("Bob"), (std::vector<std::string>{"half a line", delivered_line(id, "these are words")}));
}

/// Long enough for the user to act between text and Enter on a busy machine.
constexpr auto kLongGap = 4s;

TEST_F(DeliveryTiming, KeysTypedAfterTextEraseItAndItIsTypedLater) {
  submit_gap(kLongGap);
  auto& bob = start("Bob");
  const auto id = send("Bob", "these are words");
  ASSERT_TRUE(until([&] { return count("Bob", "paste") == 1; }));
  const auto typed_at = std::chrono::steady_clock::now();
  bob.type("my own");
  ASSERT_TRUE(bob.shows("my own"));
  EXPECT_LT(std::chrono::steady_clock::now() - typed_at, kLongGap / 2) << "keys are not held until Enter";
  read_terminals_for(kLongGap + 1s);
  EXPECT_EQ(typed("Bob", '\r'), 0u) << "the line is the user's now";
  EXPECT_EQ(count("Bob", "paste"), 1u) << "nothing is typed over a draft";
  EXPECT_TRUE(trace_of(id).contains("the user started to type; it was erased and is typed later"))
      << trace_of(id).history;
  bob.type("\r");
  EXPECT_TRUE(reaches_state(id, "delivered")) << trace_of(id).history;
  EXPECT_EQ(trace_of(id).proof, "submitted");
  EXPECT_EQ(submitted("Bob"), (std::vector<std::string>{"my own", delivered_line(id, "these are words")}));
  EXPECT_EQ(count("Bob", "paste"), 2u);
}

TEST_F(DeliveryTiming, KeysTypedBeforeEnterNeverMixWithText) {
  auto& bob = start("Bob");
  std::size_t pastes = 0;
  for (const auto pause : {0ms, 100ms, 200ms, 280ms}) {
    SCOPED_TRACE(pause.count());
    const auto before = submitted("Bob").size();
    const auto draft = format("my own {}", pause.count());
    const auto id = send("Bob", "these are words");
    ASSERT_TRUE(until([&] { return count("Bob", "paste") > pastes; }));
    read_terminals_for(pause);
    bob.type(draft);
    ASSERT_TRUE(until([&] { return bob.screen().find("> " + draft) != std::string::npos; })) << bob.screen();
    bob.type("\r");
    EXPECT_TRUE(reaches_state(id, "delivered")) << trace_of(id).history;
    EXPECT_TRUE(until([&] { return submitted("Bob").size() == before + 2; }));
    auto added = submitted("Bob");
    added.erase(added.begin(), added.begin() + static_cast<std::ptrdiff_t>(before));
    EXPECT_TRUE(std::ranges::is_permutation(added, std::vector{draft, delivered_line(id, "these are words")}))
        << testing::PrintToString(added);
    ASSERT_TRUE(until([&] { return count("Bob", "replied") == before + 2; }));
    pastes = count("Bob", "paste");
  }
}

TEST_F(DeliveryTiming, UserEnterAfterTextSendsNoMessage) {
  submit_gap(kLongGap);
  auto& bob = start("Bob");
  const auto id = send("Bob", "these are words");
  ASSERT_TRUE(until([&] { return count("Bob", "paste") == 1; }));
  ASSERT_TRUE(bob.shows("these are words"));
  bob.type("\r");
  ASSERT_TRUE(until([&] { return typed("Bob", '\r') == 1; }));
  EXPECT_TRUE(submitted("Bob").empty()) << "the text was erased before it";
  expect_delivered_once(id, "these are words");
  EXPECT_EQ(typed("Bob", '\r'), 2u) << "the user's Enter and the host's";
}

TEST_F(DeliveryTiming, ClearingKeyCausesMessageToBeTypedAgain) {
  submit_gap(kLongGap);
  auto& bob = start("Bob");
  const auto id = send("Bob", "these are words");
  ASSERT_TRUE(until([&] { return count("Bob", "paste") == 1; }));
  bob.type("\x15");  // Ctrl-U
  ASSERT_TRUE(until([&] { return typed("Bob", '\x15') == 1; })) << "keys are never lost";
  expect_delivered_once(id, "these are words");
  EXPECT_EQ(count("Bob", "paste"), 2u);
}

TEST_F(DeliveryTiming, NothingIsWrittenIntoADialog) {
  script(R"({"rules": [{"contains": "delete", "dialog": {"title": "Run rm?"}}]})");
  auto& bob = start("Bob", {"--status"});
  bob.type("delete\r");
  ASSERT_TRUE(bob.shows("Run rm?")) << bob.screen();
  const auto id = send("Bob", "these are words");
  EXPECT_TRUE(is_pending_because(id, "a dialog is open")) << trace_of(id).history;
  expect_only_answers("Bob", 0);
  bob.type("\x1b");
  EXPECT_TRUE(reaches_state(id, "delivered"));
  EXPECT_EQ(submit_count("Bob", "these are words"), 1u);
  expect_only_answers("Bob", 1);
}

TEST_F(DeliveryTiming, DialogAtStartHoldsMessages) {
  script(R"({"moments": [{"when": "start", "dialog": {"title": "Do you trust this folder?"}}]})");
  auto& bob = start("Bob");
  ASSERT_TRUE(bob.shows("Do you trust"));
  const auto id = send("Bob", "these are words");
  EXPECT_TRUE(until([&] { return trace_of(id).state == "deferred"; })) << trace_of(id).history;
  expect_only_answers("Bob", 0);
  bob.type("\r");
  expect_delivered_once(id, "these are words");
  expect_only_answers("Bob", 1);
}

struct DialogsAfterText : DeliveryTiming, testing::WithParamInterface<std::vector<std::string>> {};

TEST_P(DialogsAfterText, AreNotAnsweredByEnter) {
  script(R"({"moments": [{"when": "after_paste", "after_ms": 120, "dialog": {"title": "Update now?"}},
                         {"when": "after_paste", "dialog": {"title": "Restart now?"}}]})");
  auto& bob = start("Bob", GetParam());
  for (const auto* title : {"Update now?", "Restart now?"}) {
    SCOPED_TRACE(title);
    const auto answers = count("Bob", "answer");
    const auto id = send("Bob", title);
    ASSERT_TRUE(until([&] { return count("Bob", "dialog") == answers + 1; }));
    read_terminals_for(1s);  // longer than the submit gap
    expect_only_answers("Bob", answers);
    EXPECT_EQ(submit_count("Bob", title), 0u);
    bob.type("\x1b");
    EXPECT_TRUE(reaches_state(id, "delivered")) << trace_of(id).history;
    EXPECT_EQ(trace_of(id).proof, "submitted");
    EXPECT_EQ(submit_count("Bob", delivered_line(id, title)), 1u);
    expect_only_answers("Bob", answers + 1);
  }
  EXPECT_EQ(submitted("Bob").size(), 2u);
}

INSTANTIATE_TEST_SUITE_P(EveryDrawingStyle, DialogsAfterText,
                         testing::Values(std::vector<std::string>{},
                                         std::vector<std::string>{"--titles", "--alternate"},
                                         std::vector<std::string>{"--status"}));

/// The dialog is drawn together with the pasted text. The agent reads nothing between the paste and the dialog, so the
/// keys precede the dialog, and the host presses no Enter.
struct KeysHeldForDialog : DeliveryTiming, testing::WithParamInterface<std::vector<std::string>> {
  Terminal& start_bob() {
    submit_gap(100ms);
    script(R"({"moments": [{"when": "after_paste", "dialog": {"title": "Update now?"}}]})");
    return start("Bob", GetParam());
  }
  /// Sends a message; returns its id once `keys` are held after its text and the dialog is drawn.
  std::string press_before_dialog(const Terminal& bob, const std::vector<std::string>& keys) {
    ::kill(agent_pid("Bob"), SIGSTOP);
    const auto id = send("Bob", "these are words");
    EXPECT_TRUE(until([&] { return trace_of(id).proof == "written"; })) << trace_of(id).history;
    for (const auto& each : keys) bob.type(each);
    EXPECT_TRUE(until([&] { return holds_keys(); }));
    ::kill(agent_pid("Bob"), SIGCONT);
    EXPECT_TRUE(until([&] { return count("Bob", "dialog") == 1; }));
    return id;
  }
  bool holds_keys() { return box.ok({"explain", "Bob"}).find("held keys") != std::string::npos; }
};

TEST_P(KeysHeldForDialog, KeysPressedBeforeDialogDoNotAnswerIt) {
  auto& bob = start_bob();
  const auto id = press_before_dialog(bob, {"my own", "\r"});
  read_terminals_for(5s);  // longer than any other hold
  expect_only_answers("Bob", 0);
  EXPECT_TRUE(holds_keys());
  bob.type("\x1b");
  ASSERT_TRUE(until([&] { return count("Bob", "answer") == 1; })) << "later keys reach it at once";
  EXPECT_TRUE(reaches_state(id, "delivered")) << trace_of(id).history;
  EXPECT_TRUE(until([&] { return submitted("Bob").size() == 2; }));
  const std::vector<std::string> both{"my own", delivered_line(id, "these are words")};
  EXPECT_TRUE(std::ranges::is_permutation(submitted("Bob"), both)) << testing::PrintToString(submitted("Bob"));
  EXPECT_FALSE(holds_keys());
  expect_only_answers("Bob", 1);
}

TEST_P(KeysHeldForDialog, KeyPressedAfterDialogReachesIt) {
  auto& bob = start_bob();
  const auto id = press_before_dialog(bob, {"my own"});
  ASSERT_TRUE(bob.shows("Update now?"));
  bob.type("\x1b");
  EXPECT_TRUE(until([&] { return count("Bob", "answer") == 1; }));
  EXPECT_TRUE(until([&] { return bob.screen().find("> my own") != std::string::npos; })) << bob.screen();
  bob.type("\r");
  EXPECT_TRUE(reaches_state(id, "delivered")) << trace_of(id).history;
  expect_only_answers("Bob", 1);
}

TEST_P(KeysHeldForDialog, HeldKeysAreDroppedWhenAgentExitsInDialog) {
  auto& bob = start_bob();
  const auto id = press_before_dialog(bob, {"my own", "\r"});
  ::kill(agent_pid("Bob"), SIGKILL);
  EXPECT_EQ(bob.finish(), 128 + SIGKILL);
  EXPECT_TRUE(reaches_state(id, "in_doubt")) << trace_of(id).history;
  EXPECT_TRUE(submitted("Bob").empty());
  expect_only_answers("Bob", 0);
}

INSTANTIATE_TEST_SUITE_P(EveryDrawingStyle, KeysHeldForDialog,
                         testing::Values(std::vector<std::string>{},
                                         std::vector<std::string>{"--titles", "--alternate"},
                                         std::vector<std::string>{"--status"}));

TEST_F(DeliveryTiming, TextTypedIntoDialogIsInDoubtAndNotTypedAgain) {
  script(R"({"moments": [{"when": "before_paste", "dialog": {"title": "Update now?"}}]})");
  auto& bob = start("Bob");
  const auto id = send("Bob", "these are words");
  ASSERT_TRUE(until([&] { return count("Bob", "swallowed") == 1; }));
  read_terminals_for(1s);
  EXPECT_EQ(count("Bob", "answer"), 0u) << "no Enter followed the text";
  bob.type("\x1b");
  EXPECT_TRUE(reaches_state(id, "in_doubt")) << trace_of(id).history;
  EXPECT_EQ(count("Bob", "swallowed"), 1u);
  EXPECT_TRUE(submitted("Bob").empty());
  const auto next = send("Bob", "the next");
  expect_delivered_once(next, "the next");
}

TEST_F(DeliveryTiming, SwallowedEnterIsPressedAgain) {
  start("Bob", {"--swallow-enter", "1"});
  expect_delivered_once(send("Bob", "these are words"), "these are words");
  EXPECT_EQ(typed("Bob", '\r'), 2u);
}

TEST_F(DeliveryTiming, TextIsErasedAndInDoubtAfterTwoSwallowedEnters) {
  auto& bob = start("Bob", {"--swallow-enter", "2"});
  const auto id = send("Bob", "these are words");
  EXPECT_TRUE(reaches_state(id, "in_doubt")) << trace_of(id).history;
  EXPECT_TRUE(trace_of(id).contains("Enter had no effect, and its text was erased")) << trace_of(id).history;
  EXPECT_EQ(typed("Bob", '\r'), 2u);
  bob.type("my own\r");
  EXPECT_TRUE(receives("Bob", "my own"));
  EXPECT_EQ(submitted("Bob"), std::vector<std::string>{"my own"}) << "the user can use the composer again";
  const auto next = send("Bob", "the next");
  EXPECT_TRUE(reaches_state(next, "delivered")) << trace_of(next).history;
  EXPECT_EQ(submitted("Bob"), (std::vector<std::string>{"my own", delivered_line(next, "the next")}));
  EXPECT_EQ(trace_of(id).state, "in_doubt");
}

TEST_F(DeliveryTiming, EnterWaitsForSubmitGap) {
  start("Bob", {"--burst-ms", "150"});
  expect_delivered_once(send("Bob", "these are words"), "these are words");
  EXPECT_EQ(count("Bob", "enter_joined_text"), 0u);
}

TEST_F(DeliveryTiming, ResizeDuringTypingChangesNothing) {
  submit_gap(1s);
  for (const auto& options : {std::vector<std::string>{}, {"--alternate"}}) {
    auto& bob = start("Bob", options);
    std::string body = "a text that needs several rows";
    for (int i = 0; i < 8; ++i) body += format(" and part {} of it", i);
    const auto pastes = count("Bob", "paste"), resizes = count("Bob", "resize");
    const auto id = send("Bob", body);
    ASSERT_TRUE(until([&] { return count("Bob", "paste") == pastes + 1; }));
    const std::pair<unsigned short, unsigned short> sizes[] = {{60, 20}, {132, 40}, {40, 15}, {80, 24}};
    for (std::size_t i = 0; i < std::size(sizes); ++i) {
      bob.resize(sizes[i].first, sizes[i].second);
      ASSERT_TRUE(until([&] { return count("Bob", "resize") > resizes + i; }));
    }
    EXPECT_TRUE(reaches_state(id, "delivered")) << trace_of(id).history;
    EXPECT_EQ(submit_count("Bob", delivered_line(id, body)), 1u);
    bob.type("/exit\r");
    EXPECT_EQ(bob.finish(), 0);
  }
}

}  // namespace
}  // namespace relay::cli_tests
