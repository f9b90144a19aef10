#include "api/events/screen_watch.h"

#include <gtest/gtest.h>

#include "api/testing/scripted_host.h"
#include "net/testing/loop_driver.h"
#include "net/testing/temporary_directory.h"
#include "net/unix_network.h"

namespace relay::api {
namespace {

using net::testing::run_until;

struct ScreenWatchTest : ::testing::Test, ScreenListener {
  net::testing::TemporaryDirectory directory;
  net::AsioLoop loop;
  net::UnixNetwork network{loop};
  testing::ScriptedHost door{network, directory.path(), "Bob"};
  std::vector<std::string> heard;
  std::string gone;
  std::unique_ptr<ScreenWatch> watch;

  void on_screen(int columns, int rows, std::string_view text) override {
    heard.push_back(format("{}x{} {}", columns, rows, text));
  }
  void on_output(std::string_view text) override { heard.emplace_back(text); }
  void on_gone(const std::string& reason) override {
    gone = reason;
    watch.reset();
  }
  void begin() {
    watch = std::make_unique<ScreenWatch>(network, "Bob", directory.path() + "/Bob.sock", *this);
    ASSERT_TRUE(run_until(loop, [&] { return !door.asked.empty() || !gone.empty(); }));
  }
  bool hears(std::size_t count) {
    return run_until(loop, [&] { return heard.size() >= count; });
  }
  bool ends() {
    return run_until(loop, [&] { return !gone.empty(); });
  }
};

TEST_F(ScreenWatchTest, LooksWithoutTouching) {
  begin();
  EXPECT_EQ(door.asked.at(0), R"({"method":"attach","mode":"view","columns":80,"rows":24})");
}

TEST_F(ScreenWatchTest, ShowsTheWholeThenWhatIsWritten) {
  begin();
  door.let_in(100, 30, "whole");
  door.show("more");
  ASSERT_TRUE(hears(2));
  door.say(R"({"event":"state","state":"idle"})");
  door.say(R"({"event":"resized","columns":80,"rows":20})");
  door.show("anew");
  ASSERT_TRUE(hears(3));
  EXPECT_EQ(heard, (std::vector<std::string>{"100x30 whole", "more", "80x20 anew"}));
}

TEST_F(ScreenWatchTest, NeverCutsACharacter) {
  begin();
  door.let_in(10, 2, "");
  const std::string text = "a\xE2\x82\xAC\xF0\x9F\x98\x80\xC3\xBC";
  for (const char byte : text) door.show(std::string_view{&byte, 1});
  ASSERT_TRUE(hears(5));
  EXPECT_EQ(heard, (std::vector<std::string>{"10x2 ", "a", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xC3\xBC"}));
  EXPECT_EQ(cut_character("\x80\x80\x80\x80"), 0u);
  EXPECT_EQ(cut_character(""), 0u);
}

TEST_F(ScreenWatchTest, SaysWhenItIsOver) {
  begin();
  door.let_in(10, 2, "x");
  door.say(R"({"event":"exit","code":0})");
  ASSERT_TRUE(ends());
  EXPECT_EQ(gone, "Bob has ended");
}

TEST_F(ScreenWatchTest, SaysWhenTheHostWasKilled) {
  begin();
  door.hang_up();
  ASSERT_TRUE(ends());
  EXPECT_EQ(gone, "Bob has ended, or its host was killed");
}

TEST_F(ScreenWatchTest, SaysWhyItWasRefused) {
  begin();
  door.say(R"({"method":"attach","ok":false,"error":"64 are attached already"})");
  ASSERT_TRUE(ends());
  EXPECT_EQ(gone, "64 are attached already");
}

TEST_F(ScreenWatchTest, SaysWhenNobodyIsThere) {
  watch = std::make_unique<ScreenWatch>(network, "Eve", directory.path() + "/Eve.sock", *this);
  EXPECT_EQ(gone, "");
  ASSERT_TRUE(ends());
  EXPECT_EQ(gone, "Eve has just ended");
}

TEST_F(ScreenWatchTest, SaysWhenWhatComesCannotBeUnderstood) {
  begin();
  door.babble("HTTP/1.1 200 OK\r\n\r\n");
  ASSERT_TRUE(ends());
  EXPECT_TRUE(gone.starts_with("the host of Bob cannot be understood: ")) << gone;
}

}  // namespace
}  // namespace relay::api
