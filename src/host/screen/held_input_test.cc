#include "host/screen/held_input.h"

#include <gtest/gtest.h>

namespace relay::host {
namespace {

using namespace std::chrono_literals;

constexpr SteadyTime kFirstKeyAt{1h};

struct HeldInputTest : ::testing::Test {
  HeldInput held;
  terminal::InputSplitter splitter;

  void type(std::string_view bytes, SteadyTime at = kFirstKeyAt) {
    held.add(bytes, at);
    held.classify(splitter.feed(bytes, at));
  }
};

TEST_F(HeldInputTest, KeysLeaveInOrder) {
  for (const auto* key : {"h", "e", "l", "l", "o", " \x1b[D"}) type(key);
  EXPECT_EQ(held.keys_since(), kFirstKeyAt);
  EXPECT_EQ(held.take(kFirstKeyAt + 1s), "hello \x1b[D");
  EXPECT_TRUE(held.empty());
  EXPECT_EQ(held.bytes(), 0U);
  EXPECT_FALSE(held.keys_since());
}

TEST_F(HeldInputTest, SeparateEnterStaysEnter) {
  type("hello");
  type("\r", kFirstKeyAt + 200ms);
  type("next", kFirstKeyAt + 300ms);
  EXPECT_EQ(held.take(kFirstKeyAt + 1s), "hello");
  EXPECT_EQ(held.due(), kFirstKeyAt + 1s + kEnterGap);
  EXPECT_EQ(held.take(kFirstKeyAt + 1s + kEnterGap - 1ms), "");
  EXPECT_EQ(held.take(kFirstKeyAt + 1s + kEnterGap), "\rnext");
  EXPECT_TRUE(held.empty());
}

TEST_F(HeldInputTest, EnterAfterReleasedKeysIsDelayed) {
  type("hello");
  EXPECT_EQ(held.take(kFirstKeyAt), "hello");
  EXPECT_TRUE(held.must_delay("\r", kFirstKeyAt + 5ms));
  EXPECT_FALSE(held.must_delay("x", kFirstKeyAt + 5ms));
  EXPECT_FALSE(held.must_delay("\r", kFirstKeyAt + kEnterGap));
}

TEST_F(HeldInputTest, EscapeAndInterruptCancel) {
  for (const auto* key : {"\x03", "\x1b[27u", "\x1b[99;5u"}) {
    held = {};
    type(key);
    EXPECT_TRUE(held.has_cancel()) << key;
  }
  held = {};
  type("text \x1b[A");
  EXPECT_FALSE(held.has_cancel());
  type("\x1b");
  held.classify(splitter.expire(kFirstKeyAt + 1s));
  EXPECT_TRUE(held.has_cancel()) << "only time tells";
}

TEST_F(HeldInputTest, PasteIsNoCancel) {
  type("\x1b[200~with \x03 inside\r\x1b[201~");
  EXPECT_FALSE(held.has_cancel());
  EXPECT_TRUE(held.has_edits());
  EXPECT_FALSE(held.has_enter());
  EXPECT_EQ(held.take(kFirstKeyAt), "\x1b[200~with \x03 inside\r\x1b[201~");
}

TEST_F(HeldInputTest, TerminalReplyIsNoKey) {
  type("\x1b[?62;22c");
  EXPECT_FALSE(held.keys_since());
}

}  // namespace
}  // namespace relay::host
