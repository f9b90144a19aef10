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
  testing::ScriptedHost host{network, directory.path(), "Bob"};
  std::vector<std::string> received;
  std::string end_reason;
  std::unique_ptr<ScreenWatch> watch;

  void on_screen(int columns, int rows, std::string_view text) override {
    received.push_back(format("{}x{} {}", columns, rows, text));
  }
  void on_output(std::string_view text) override { received.emplace_back(text); }
  void on_ended(const std::string& reason) override {
    end_reason = reason;
    watch.reset();
  }
  void start() {
    watch = std::make_unique<ScreenWatch>(network, "Bob", directory.path() + "/Bob.sock", *this);
    ASSERT_TRUE(run_until(loop, [&] { return !host.requests.empty() || !end_reason.empty(); }));
  }
  bool receives(std::size_t count) {
    return run_until(loop, [&] { return received.size() >= count; });
  }
  bool ends() {
    return run_until(loop, [&] { return !end_reason.empty(); });
  }
};

TEST_F(ScreenWatchTest, AttachesReadOnly) {
  start();
  EXPECT_EQ(host.requests.at(0), R"({"method":"attach","mode":"view","columns":80,"rows":24})");
}

TEST_F(ScreenWatchTest, SendsTheWholeScreenThenOutput) {
  start();
  host.accept_attach(100, 30, "whole");
  host.send_output("more");
  ASSERT_TRUE(receives(2));
  host.send_json(R"({"event":"state","state":"idle"})");
  host.send_json(R"({"event":"resized","columns":80,"rows":20})");
  host.send_output("again");
  ASSERT_TRUE(receives(3));
  EXPECT_EQ(received, (std::vector<std::string>{"100x30 whole", "more", "80x20 again"}));
}

TEST_F(ScreenWatchTest, KeepsUtf8CharactersWhole) {
  start();
  host.accept_attach(10, 2, "");
  const std::string text = "a\xE2\x82\xAC\xF0\x9F\x98\x80\xC3\xBC";
  for (const char byte : text) host.send_output(std::string_view{&byte, 1});
  ASSERT_TRUE(receives(5));
  EXPECT_EQ(received, (std::vector<std::string>{"10x2 ", "a", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xC3\xBC"}));
  EXPECT_EQ(incomplete_utf8_bytes("\x80\x80\x80\x80"), 0u);
  EXPECT_EQ(incomplete_utf8_bytes(""), 0u);
}

TEST_F(ScreenWatchTest, ReportsAgentExit) {
  start();
  host.accept_attach(10, 2, "x");
  host.send_json(R"({"event":"exit","code":0})");
  ASSERT_TRUE(ends());
  EXPECT_EQ(end_reason, "Bob has ended");
}

TEST_F(ScreenWatchTest, ReportsKilledHost) {
  start();
  host.disconnect();
  ASSERT_TRUE(ends());
  EXPECT_EQ(end_reason, "Bob has ended, or its host was killed");
}

TEST_F(ScreenWatchTest, ReportsRefusal) {
  start();
  host.send_json(R"({"method":"attach","ok":false,"error":"64 are attached already"})");
  ASSERT_TRUE(ends());
  EXPECT_EQ(end_reason, "64 are attached already");
}

TEST_F(ScreenWatchTest, ReportsMissingHost) {
  watch = std::make_unique<ScreenWatch>(network, "Eve", directory.path() + "/Eve.sock", *this);
  EXPECT_EQ(end_reason, "");
  ASSERT_TRUE(ends());
  EXPECT_EQ(end_reason, "Eve has just ended");
}

TEST_F(ScreenWatchTest, ReportsInvalidData) {
  start();
  host.send_bytes("HTTP/1.1 200 OK\r\n\r\n");
  ASSERT_TRUE(ends());
  EXPECT_TRUE(end_reason.starts_with("invalid data from the host of Bob: ")) << end_reason;
}

}  // namespace
}  // namespace relay::api
