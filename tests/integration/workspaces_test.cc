/// Several projects in one process, and the daemon's own socket.
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

#include "base/format.h"
#include "integration/daemon_process.h"
#include "integration/raw_client.h"

namespace relay::integration {
namespace {

namespace fs = std::filesystem;

json::object ask(RawClient& control, std::string_view type, std::string_view payload = "{}") {
  control.say(envelope(type, "request-7", payload));
  const auto response = control.hear_type("WORKSPACE_RESPONSE");
  EXPECT_EQ(string_member(response, "id"), "request-7");
  const json::object* answer = object_member(response, "payload");
  return answer == nullptr ? json::object{} : *answer;
}

std::string wish(const std::string& root) { return format(R"({{"root":"{}"}})", root); }

TEST(Workspaces, AreIsolatedInOneProcess) {
  DaemonProcess daemon;
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  RawClient control{daemon.control_socket()};
  const auto opened = ask(control, "WORKSPACE_OPEN", wish(daemon.project("other")));
  EXPECT_EQ(bool_member(opened, "ok"), true) << json::serialize(opened);
  EXPECT_EQ(array_member(opened, "workspaces")->size(), 2U);

  RawClient alice_here{daemon.socket()};
  RawClient alice_there{daemon.socket("other")};
  RawClient bob_there{daemon.socket("other")};
  alice_here.hello("Alice");
  alice_there.hello("Alice");
  bob_there.hello("Bob");
  alice_here.send("Bob", "nobody of that name here", "m-1");
  EXPECT_EQ(payload_text(alice_here.hear_type("NACK"), "code"), "UNKNOWN_RECIPIENT");
  alice_there.send("Bob", "hello", "m-1");
  EXPECT_EQ(bob_there.next_text(), "hello");
}

TEST(Workspaces, AreListedWithWhatAPersonWantsToKnow) {
  DaemonProcess daemon;
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  RawClient alice{daemon.socket()};
  alice.hello("Alice");
  RawClient control{daemon.control_socket()};
  const auto answer = ask(control, "WORKSPACE_LIST");
  EXPECT_EQ(integer_member(answer, "pid"), daemon.pid());
  EXPECT_EQ(string_member(answer, "home"), daemon.home());
  EXPECT_FALSE(string_member(answer, "version").value_or("").empty());
  const auto& list = *array_member(answer, "workspaces");
  ASSERT_EQ(list.size(), 1U);
  const auto& workspace = list[0].get_object();
  EXPECT_EQ(string_member(workspace, "root"), daemon.project());
  EXPECT_EQ(string_member(workspace, "socket"), daemon.socket());
  EXPECT_EQ(string_member(workspace, "storage"), "sqlite");
  EXPECT_EQ(integer_member(workspace, "connected"), 1);
  EXPECT_EQ(integer_member(workspace, "known"), 1);
}

TEST(Workspaces, OpenTwiceIsHarmlessAndAMissingRootIsRefused) {
  DaemonProcess daemon;
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  RawClient control{daemon.control_socket()};
  for (const std::string spelling : {"", "/", "/./", "/.git/.."}) {
    const auto again = ask(control, "WORKSPACE_OPEN", wish(daemon.project() + spelling));
    EXPECT_EQ(bool_member(again, "ok"), true) << spelling;
    EXPECT_EQ(array_member(again, "workspaces")->size(), 1U) << spelling;
  }
  const auto refused = ask(control, "WORKSPACE_OPEN", wish("/no/such/root"));
  EXPECT_EQ(bool_member(refused, "ok"), false);
  EXPECT_NE(string_member(refused, "error")->find("no such directory"), std::string::npos);
  EXPECT_EQ(array_member(refused, "workspaces")->size(), 1U);
}

TEST(Workspaces, CloseAloneAndAreForgotten) {
  DaemonProcess daemon;
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  RawClient control{daemon.control_socket()};
  ask(control, "WORKSPACE_OPEN", wish(daemon.project("other")));
  RawClient here{daemon.socket()};
  RawClient there{daemon.socket("other")};
  here.hello("Alice");
  there.hello("Bob");

  EXPECT_EQ(bool_member(ask(control, "WORKSPACE_CLOSE", wish(daemon.path("other"))), "ok"), true);
  there.hear_type("BYE");
  EXPECT_TRUE(there.is_closed());
  EXPECT_FALSE(fs::exists(daemon.socket("other")));
  here.say(envelope("STATUS", "s-1"));
  here.hear_type("STATUS_RESPONSE");
  const auto again = ask(control, "WORKSPACE_CLOSE", wish(daemon.path("other")));
  EXPECT_NE(string_member(again, "error")->find("is not open"), std::string::npos);

  daemon.end(SIGTERM);
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  EXPECT_FALSE(fs::exists(daemon.socket("other")));
}

TEST(Workspaces, AreOpenedAgainAfterARestartExceptMissingRoots) {
  DaemonProcess daemon;
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  RawClient control{daemon.control_socket()};
  ask(control, "WORKSPACE_OPEN", wish(daemon.project("other")));
  ask(control, "WORKSPACE_OPEN", wish(daemon.project("vanishing")));
  daemon.end(SIGKILL);
  fs::remove_all(daemon.path("vanishing"));

  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  RawClient there{daemon.socket("other")};
  there.hello("Bob");
  EXPECT_NE(daemon.log().find("vanishing"), std::string::npos);
}

TEST(Workspaces, AnswerOtherFramesOnTheControlSocketWithAWord) {
  DaemonProcess daemon;
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  RawClient control{daemon.control_socket()};
  control.say(envelope("HELLO", "h-1", R"({"agent":"Alice"})"));
  EXPECT_NE(payload_text(control.hear_type("ERROR"), "message").find("daemon's own socket"), std::string::npos);
  EXPECT_EQ(bool_member(ask(control, "WORKSPACE_LIST"), "ok"), true);
  control.say("[]");
  EXPECT_FALSE(payload_text(control.hear_type("ERROR"), "message").empty());
  EXPECT_TRUE(control.is_closed());
}

TEST(Workspaces, ShutDownByFrame) {
  DaemonProcess daemon;
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  RawClient control{daemon.control_socket()};
  EXPECT_EQ(bool_member(ask(control, "SHUTDOWN"), "ok"), true);
  EXPECT_EQ(daemon.wait().exit_code, 0) << daemon.log();
}

}  // namespace
}  // namespace relay::integration
