#include "adapters/hook_prompts.h"

#include <gtest/gtest.h>

#include "adapters/testing/recorder.h"
#include "net/asio_loop.h"

namespace relay::adapters {
namespace {

using profiles::State;

struct HookPromptsTest : ::testing::Test {
  net::AsioLoop loop;
  testing::Recorder told;
  HookPrompts prompts{std::nullopt};
  int answers = 0;

  HookPromptsTest() { prompts.start(loop, told); }
  void ask() {
    prompts.open({.kind = hooks::EventKind::Permission, .tool = "Write"}, 1,
                 [this](const hooks::Answer&) { ++answers; });
  }
};

TEST_F(HookPromptsTest, APersonsAnswerIsKnownByTheDialogThatCloses) {
  ask();
  prompts.on_state(State::Working);
  EXPECT_TRUE(told.gone.empty()) << "its dialog is not drawn yet";
  prompts.on_state(State::Blocked);
  prompts.on_state(State::Working);
  EXPECT_EQ(told.gone, std::vector<std::string>{"p1 by person"});
  EXPECT_EQ(answers, 1);
}

TEST_F(HookPromptsTest, AlsoWhenTheDialogWasSeenBeforeTheHookCame) {
  prompts.on_state(State::Blocked);
  ask();
  prompts.on_state(State::Idle);
  EXPECT_EQ(told.gone, std::vector<std::string>{"p1 by person"});
}

}  // namespace
}  // namespace relay::adapters
