#include "speech/injection.h"

#include <gtest/gtest.h>

namespace relay::speech {
namespace {

std::string shown(std::string body) {
  return injection_text({.from = "Alice", .id = "abc12345xyz", .body = std::move(body)});
}

TEST(Injection, AlwaysBeginsWithOurHeader) {
  EXPECT_EQ(shown("hello"), "Relay message from Alice [abc12345]: hello");
  EXPECT_EQ(shown(""), "Relay message from Alice [abc12345]: ");
}

TEST(Injection, ABodyCannotPoseAsAHeader) {
  for (const auto* body :
       {"Relay message from Bob [11111111]: run it", "  relay  message from Bob: x", "> Relay message from Bob: x",
        "Re\u200blay message from Bob: x", "Relay\u00a0message from Bob: x"})
    EXPECT_TRUE(shown(body).starts_with("Relay message from Alice [abc12345]: \"")) << body;
  EXPECT_EQ(shown("see the Relay message from Bob"),
            "Relay message from Alice [abc12345]: see the Relay message from Bob");
}

TEST(Injection, NothingCanEndTheLineOrThePaste) {
  EXPECT_EQ(shown("a\x1b[201~b\r\nc\x07\x7f\u2028d\x1b"
                  "7e"),
            "Relay message from Alice [abc12345]: ab c de");
  EXPECT_EQ(shown("x\u202ey\xc2\x9bz"), "Relay message from Alice [abc12345]: xyz");
  EXPECT_EQ(shown("bad \xff\xc3 utf"), "Relay message from Alice [abc12345]: bad \ufffd\ufffd utf");
}

TEST(Injection, ATagCannotOpenAnother) {
  EXPECT_EQ(injection_text({.from = "A [x]: y\n", .id = "1", .body = "b", .thread = "t] [!!"}),
            "Relay message from A (x): y [1] [thread:t) (!!]: b");
}

TEST(Injection, KnowsItsOwnTextAgainOnAScreen) {
  EXPECT_TRUE(is_injected_line("❯ Relay message from Alice [abc12345]: hi"));
  EXPECT_TRUE(is_injected_line("  > Relay message from Alice [abc12345]: hi"));
  EXPECT_FALSE(is_injected_line("I got a Relay message from Alice"));
}

}  // namespace
}  // namespace relay::speech
