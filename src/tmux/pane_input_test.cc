#include "tmux/pane_input.h"

#include <gtest/gtest.h>

#include "net/asio_loop.h"
#include "pty/child.h"

namespace relay::tmux {
namespace {

/// A terminal that always has room, and a tmux that replies on request.
struct PaneInputTest : ::testing::Test {
  void send(std::string_view line, ControlClient::OnResponse on_reply) {
    pastes += line.starts_with("paste-buffer") ? 1 : 0;
    if (on_reply) replies.push_back(std::move(on_reply));
  }
  void reply() {
    const auto on_reply = std::move(replies.front());
    replies.pop_front();
    on_reply(CommandResult{.number = 1, .requested = true, .ok = true, .text = {}});
  }

  net::AsioLoop loop;
  int pastes = 0, typed = 0;
  std::deque<ControlClient::OnResponse> replies;
  PaneInput input{loop, -1, PasteTarget{.pane = 3, .buffer = "b", .needs_raw_paste_flag = false},
                  [this](std::string_view line, ControlClient::OnResponse then) { send(line, std::move(then)); },
                  [this] { ++typed; }};
};

TEST_F(PaneInputTest, PastesOneWriteWithOneCommand) {
  const std::string whole(kMaxPasteBytes, 'x');
  EXPECT_EQ(input.write(whole), whole.size());
  EXPECT_EQ(pastes, 1);
  EXPECT_EQ(input.waiting(), whole.size()) << "until tmux confirms";
  reply();
  EXPECT_EQ(input.waiting(), 0U);
  EXPECT_EQ(typed, 1);
}

TEST_F(PaneInputTest, SendsOneChunkAtATime) {
  const std::string much(3 * kMaxPasteBytes, 'x');
  EXPECT_EQ(input.write(much), much.size());
  EXPECT_EQ(pastes, 1);
  reply();
  EXPECT_EQ(pastes, 2);
  reply();
  EXPECT_EQ(pastes, 3);
  EXPECT_EQ(input.waiting(), kMaxPasteBytes);
}

TEST_F(PaneInputTest, BoundsPendingInput) {
  const std::string much(pty::kMaxInputBytes, 'x');
  EXPECT_EQ(input.write("a"), 1U);
  EXPECT_EQ(input.write(much), much.size() - 1);
  EXPECT_EQ(input.write("b"), 0U);
}

TEST_F(PaneInputTest, KeepsInputWhileForbiddenAndTypesItTogether) {
  input.forbid();
  EXPECT_EQ(input.write("one"), 3U);
  EXPECT_EQ(input.write("two"), 3U);
  EXPECT_EQ(pastes, 0);
  EXPECT_EQ(input.waiting(), 6U);
  input.allow();
  EXPECT_EQ(pastes, 1);
}

TEST_F(PaneInputTest, TypesNothingTwiceWithoutReply) {
  input.write("one");
  input.forbid();
  EXPECT_EQ(input.waiting(), 0U);
  input.allow();
  EXPECT_EQ(pastes, 1);
}

TEST_F(PaneInputTest, DropsInputAfterStop) {
  input.forbid();
  input.write("one");
  input.stop();
  input.allow();
  EXPECT_EQ(input.write("two"), 3U);
  EXPECT_EQ(pastes, 0);
  EXPECT_EQ(input.waiting(), 0U);
}

}  // namespace
}  // namespace relay::tmux
