#include "host/prompts/dialog_driver.h"

#include <gtest/gtest.h>

#include "host/delivery/injection.h"

namespace relay::host {
namespace {

using profiles::State;
using protocol::NackCode;
using terminal::NamedKey;

/// Of an agent without an adapter, which reports nothing.
struct NullListeners : adapters::OutputListener, adapters::DeliveryListener {
  void on_assistant_text(std::string_view, std::string_view) override {}
  void on_returned(const std::vector<std::string>&, std::string_view) override {}
  void on_model_input(std::string_view, std::string_view, std::string_view) override {}
  std::string take_pending(protocol::DeliveryMode, std::size_t) override { return {}; }
};

struct DialogDriverTest : ::testing::Test, NullListeners {
  net::AsioLoop loop;
  AdapterBridge bridge{nullptr, "h", profiles::DialogKeys::Cursor};
  std::vector<NamedKey> keys;
  std::vector<std::string> outcomes;
  std::vector<events::Event> agent_events;
  DialogDriver driver{bridge, cursor_profile(), [this](const terminal::Key& key) { keys.push_back(key.name); }};
  profiles::ScreenFindings dialog;
  DialogDriver::View view;

  DialogDriverTest() {
    bridge.start(loop, 0,
                 {.output = *this,
                  .deliveries = *this,
                  .report_event = [this](events::Event event, WallMs) { agent_events.push_back(std::move(event)); },
                  .notify_clients = [](const std::string&) {},
                  .on_changed = [] {}});
    dialog.permission = {0,
                         "run",
                         "Shell",
                         "make",
                         {{"1", "Yes", "", true, profiles::ChoiceMeaning::Approve},
                          {"2", "No", "", false, profiles::ChoiceMeaning::Deny}},
                         "make",
                         true};
    view = {.now = loop.now().steady, .dialog = &dialog};
    show(State::Blocked);
    view.now += PromptTracker::kNativePromptDelay;
    show(State::Blocked);
  }
  static profiles::Profile cursor_profile() {
    profiles::Profile profile;
    profile.dialogs.keys = profiles::DialogKeys::Cursor;
    return profile;
  }
  void show(State state) {
    (void)bridge.on_screen(state, state == State::Blocked ? dialog : profiles::ScreenFindings{}, {view.now, 0});
  }
  void start(adapters::PromptAnswer::Decision decision = adapters::PromptAnswer::Decision::Approve) {
    driver.start({.prompt = "h-s1", .reply = {.decision = decision}}, view, [this](const Result<void>& outcome) {
      const auto code = outcome ? std::nullopt : protocol::nack_code_of(outcome.error());
      outcomes.emplace_back(outcome ? "done" : code ? name_of(*code) : outcome.error().message());
    });
  }
  void update_after(Millis time) {
    view.now += time;
    (void)driver.update(view);
  }
};

using Keys = std::vector<NamedKey>;
using Outcomes = std::vector<std::string>;

TEST_F(DialogDriverTest, AnswerIsDoneWhenDialogIsGone) {
  start();
  update_after(Millis{0});
  EXPECT_EQ(keys, Keys{NamedKey::Enter});
  EXPECT_TRUE(outcomes.empty());
  show(State::Working);
  view.dialog = nullptr;
  update_after(Millis{10});
  EXPECT_EQ(outcomes, Outcomes{"done"});
  EXPECT_EQ(std::get<events::PermissionResolved>(agent_events.back()).resolution, events::Resolution::Approved);
}

TEST_F(DialogDriverTest, RequestIsResolvedWhenUnknownScreenReplacesDialog) {
  start();
  update_after(Millis{0});
  show(State::Unknown);
  view.dialog = nullptr;
  update_after(Millis{10});
  EXPECT_TRUE(outcomes.empty());
  update_after(kClosedTime);
  EXPECT_EQ(outcomes, Outcomes{"done"});
  EXPECT_EQ(std::get<events::PermissionResolved>(agent_events.back()).resolution, events::Resolution::Approved);
}

TEST_F(DialogDriverTest, StayingDialogIsNotAnsweredAgain) {
  start();
  update_after(Millis{0});
  update_after(kCloseTimeout);
  EXPECT_EQ(outcomes, Outcomes{"BUSY"});
  start();
  update_after(Millis{0});
  EXPECT_EQ(outcomes, (Outcomes{"BUSY", "UNSUPPORTED"}));
  EXPECT_EQ(keys.size(), 1U) << "the agent may read the first key late";
}

TEST_F(DialogDriverTest, SecondAnswerIsBusy) {
  start();
  start();
  EXPECT_EQ(outcomes, Outcomes{"BUSY"});
}

TEST_F(DialogDriverTest, NothingIsPressedWhileUserTypes) {
  view.typed = view.now;
  view.since = view.now - Millis{1};
  start();
  EXPECT_EQ(outcomes, Outcomes{"BUSY"});
  view.since = view.now + Millis{1};
  start();
  EXPECT_EQ(outcomes.size(), 1U) << "keys typed before the dialog was drawn do not count";
}

TEST_F(DialogDriverTest, NothingIsPressedWhileScreenIsDrawn) {
  view.steady = false;
  start();
  update_after(Millis{10});
  EXPECT_TRUE(keys.empty());
  view.steady = true;
  update_after(Millis{10});
  EXPECT_EQ(keys.size(), 1U);
}

TEST_F(DialogDriverTest, AgentExitFailsPendingAnswer) {
  start(adapters::PromptAnswer::Decision::Deny);
  update_after(Millis{0});
  driver.on_agent_exit();
  driver.on_agent_exit();
  EXPECT_EQ(outcomes, Outcomes{"STALE"});
}

}  // namespace
}  // namespace relay::host
