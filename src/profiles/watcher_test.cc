#include "profiles/watcher.h"

#include <gtest/gtest.h>

#include "profiles/shelf.h"

namespace relay::profiles {
namespace {

using namespace std::chrono_literals;

/// A program that draws its whole screen each time.
struct WatcherTest : testing::Test {
  void draw(Millis at, const std::string& bytes) {
    screen.feed("\x1b[H\x1b[2J" + bytes);
    (void)watcher.look(screen, SteadyTime{at});
  }
  std::vector<std::string> last_words() {
    std::vector<std::string> bodies;
    for (const auto& observation : watcher.finish())
      if (const auto* said = std::get_if<Said>(&observation))
        bodies.push_back(std::get<speech::Command>(said->utterance).body);
    return bodies;
  }

  const std::string composer = "\r\n\r\n────────────────────\r\n❯ \r\n────────────────────\x1b[A\x1b[3G";
  Eyes eyes = Eyes::open(*profile_named("claude")).value();
  terminal::Screen screen{{60, 10}};
  Watcher watcher{eyes};
};

TEST_F(WatcherTest, HearsTheLastWordsOfAProgramThatTookItsComposerAway) {
  draw(1s, "\x1b]0;◐ busy\x07● Sen" + composer);
  draw(2s, "\x1b]0;✳ idle\x07● Sending.\r\n\r\n  @relay:Bob goodbye" + composer);
  draw(2100ms, "See you.\r\n");
  EXPECT_EQ(last_words(), std::vector<std::string>{"goodbye"});
}

TEST_F(WatcherTest, DoesNotHearATurnThatWasNotOver) {
  draw(1s, "\x1b]0;◐ busy\x07● Sending.\r\n\r\n  @relay:Bob good" + composer);
  draw(1100ms, "Killed\r\n");
  EXPECT_TRUE(last_words().empty());
}

}  // namespace
}  // namespace relay::profiles
