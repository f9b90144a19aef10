#include "host/keyboard.h"

#include <gtest/gtest.h>

namespace relay::host {
namespace {

using namespace std::chrono_literals;

constexpr SteadyTime kFirst{1h}, kLater{1h + 3s}, kNever{};

struct KeyboardTest : testing::Test {
  Keyboard keyboard{[](bool) {}};

  void expect(SteadyTime edit, SteadyTime enter) const {
    EXPECT_EQ(keyboard.typing().edit, edit);
    EXPECT_EQ(keyboard.typing().enter, enter);
    EXPECT_EQ(keyboard.typing().any, std::max(edit, enter));
  }
};

TEST_F(KeyboardTest, EnterIsEnterThoughEscapeWasPressedBefore) {
  keyboard.person_types("\x1b", kFirst);
  expect(kFirst, kNever);
  keyboard.person_types("\r", kLater);
  expect(kFirst, kLater);
}

TEST_F(KeyboardTest, EnterWithAltIsAnEdit) {
  keyboard.person_types("\x1b", kFirst);
  keyboard.person_types("\r", kFirst + 1ms);
  expect(kFirst + 1ms, kNever);
}

TEST_F(KeyboardTest, ATerminalsReplyIsNoEditHoweverItIsCut) {
  for (const std::string_view reply : {"\x1b[?62;22c", "\x1b]11;rgb:0/0/0\x1b\\", "\x1bP>|term\x1b\\"})
    for (std::size_t cut = 2; cut <= reply.size(); ++cut) {
      Keyboard fresh{[](bool) {}};
      fresh.person_types(reply.substr(0, cut), kFirst);
      fresh.person_types(reply.substr(cut), kFirst + 1ms);
      EXPECT_EQ(fresh.typing().any, kNever) << reply.substr(1) << " cut at " << cut;
    }
}

TEST_F(KeyboardTest, AnEscapeThatMayBeAloneIsThePersons) {
  keyboard.person_types("\x1b", kFirst);
  keyboard.person_types("[?62;22c", kFirst + 1ms);
  expect(kFirst, kNever);
}

}  // namespace
}  // namespace relay::host
