#include "host/prompts/dialog_driver.h"

#include <gtest/gtest.h>

#include "host/delivery/injection.h"

namespace relay::host {
namespace {

using profiles::State;
using protocol::NackCode;
using terminal::NamedKey;

struct DialogDriverTest : ::testing::Test, AdapterBridgeListener {
  net::AsioLoop loop;
  AdapterBridge native{nullptr, *this, "h", profiles::DialogKeys::Cursor};
  std::vector<NamedKey> keys;
  std::vector<std::string> told;  // how each answer ended
  std::vector<events::Event> happened;
  DialogDriver answer{native, made(), [this](const terminal::Key& key) { keys.push_back(key.name); }};
  profiles::ScreenFindings shown;
  DialogDriver::View view;

  DialogDriverTest() {
    native.start(loop, 0);
    shown.permission = {
        0,
        "run",
        "Shell",
        "make",
        {{"1", "Yes", "", true, profiles::ChoiceMeaning::Approve}, {"2", "No", "", false, profiles::ChoiceMeaning::Deny}},
        "make",
        true};
    view = {.now = loop.now().steady, .asking = &shown};
    see(State::Blocked);
    view.now += PromptTracker::kSettle;
    see(State::Blocked);
  }
  static profiles::Profile made() {
    profiles::Profile profile;
    profile.dialogs.keys = profiles::DialogKeys::Cursor;
    return profile;
  }
  void see(State state) {
    (void)native.on_screen(state, state == State::Blocked ? shown : profiles::ScreenFindings{}, {view.now, 0});
  }
  void begin(adapters::PromptAnswer::Decision verdict = adapters::PromptAnswer::Decision::Allow) {
    answer.begin({.prompt = "h-s1", .reply = {.verdict = verdict}}, view, [this](const Result<void>& outcome) {
      const auto code = outcome ? std::nullopt : protocol::nack_code_of(outcome.error());
      told.emplace_back(outcome ? "done" : code ? name_of(*code) : outcome.error().message());
    });
  }
  void later(Millis time) {
    view.now += time;
    (void)answer.update(view);
  }

  void on_assistant_text(std::string_view) override {}
  void on_returned(const std::vector<std::string>&, std::string_view) override {}
  void on_model_input(std::string_view, std::string_view, std::string_view) override {}
  void on_changed() override {}
  void on_client_event(const std::string&) override {}
  void on_agent_event(events::Event event, WallMs) override { happened.push_back(std::move(event)); }
  std::string take_pending(protocol::DeliveryMode, std::size_t) override { return {}; }
};

using Keys = std::vector<NamedKey>;
using Ends = std::vector<std::string>;

TEST_F(DialogDriverTest, IsDoneWhenTheDialogIsGone) {
  begin();
  later(Millis{0});
  EXPECT_EQ(keys, Keys{NamedKey::Enter});
  EXPECT_TRUE(told.empty());
  see(State::Working);
  view.asking = nullptr;
  later(Millis{10});
  EXPECT_EQ(told, Ends{"done"});
  EXPECT_EQ(std::get<events::PermissionResolved>(happened.back()).resolution, events::Resolution::Approved);
}

TEST_F(DialogDriverTest, RequestIsResolvedWhenUnknownScreenReplacesDialog) {
  begin();
  later(Millis{0});
  see(State::Unknown);
  view.asking = nullptr;
  later(Millis{10});
  EXPECT_TRUE(told.empty());
  later(kGone);
  EXPECT_EQ(told, Ends{"done"});
  EXPECT_EQ(std::get<events::PermissionResolved>(happened.back()).resolution, events::Resolution::Approved);
}

TEST_F(DialogDriverTest, StayingDialogIsNotAnsweredAgain) {
  begin();
  later(Millis{0});
  later(kTakenTimeout);
  EXPECT_EQ(told, Ends{"BUSY"});
  begin();
  later(Millis{0});
  EXPECT_EQ(told, (Ends{"BUSY", "UNSUPPORTED"}));
  EXPECT_EQ(keys.size(), 1U) << "the agent may only have been slow to read the first";
}

TEST_F(DialogDriverTest, OneAfterTheOther) {
  begin();
  begin();
  EXPECT_EQ(told, Ends{"BUSY"});
}

TEST_F(DialogDriverTest, NothingIsPressedWhileUserTypes) {
  view.typed = view.now;
  view.since = view.now - Millis{1};
  begin();
  EXPECT_EQ(told, Ends{"BUSY"});
  view.since = view.now + Millis{1};
  begin();
  EXPECT_EQ(told.size(), 1U) << "what was typed before it asked went elsewhere";
}

TEST_F(DialogDriverTest, NothingIsPressedOnAScreenThatIsBeingDrawn) {
  view.steady = false;
  begin();
  later(Millis{10});
  EXPECT_TRUE(keys.empty());
  view.steady = true;
  later(Millis{10});
  EXPECT_EQ(keys.size(), 1U);
}

TEST_F(DialogDriverTest, AgentExitFailsPendingAnswer) {
  begin(adapters::PromptAnswer::Decision::Deny);
  later(Millis{0});
  answer.on_agent_exit();
  answer.on_agent_exit();
  EXPECT_EQ(told, Ends{"STALE"});
}

}  // namespace
}  // namespace relay::host
