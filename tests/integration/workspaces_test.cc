/// Several projects in one process, and the control socket.
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

#include "base/format.h"
#include "integration/daemon_process.h"
#include "integration/raw_client.h"

namespace relay::integration {
namespace {

namespace fs = std::filesystem;

json::object request(RawClient& control, std::string_view type, std::string_view payload = "{}") {
  control.send_frame(envelope(type, "request-7", payload));
  const auto response = control.receive_type("WORKSPACE_RESPONSE");
  EXPECT_EQ(string_member(response, "id"), "request-7");
  const json::object* result = object_member(response, "payload");
  return result == nullptr ? json::object{} : *result;
}

std::string root_payload(const std::string& root) { return format(R"({{"root":"{}"}})", root); }

TEST(Workspaces, AreIsolatedInOneProcess) {
  DaemonProcess daemon;
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  RawClient control{daemon.control_socket()};
  const auto opened = request(control, "WORKSPACE_OPEN", root_payload(daemon.project("other")));
  EXPECT_EQ(bool_member(opened, "ok"), true) << json::serialize(opened);
  EXPECT_EQ(array_member(opened, "workspaces")->size(), 2U);

  RawClient alice{daemon.socket()};
  RawClient other_alice{daemon.socket("other")};
  RawClient bob{daemon.socket("other")};
  alice.hello("Alice");
  other_alice.hello("Alice");
  bob.hello("Bob");
  alice.send("Bob", "no agent of that name", "m-1");
  EXPECT_EQ(payload_string(alice.receive_type("NACK"), "code"), "UNKNOWN_RECIPIENT");
  other_alice.send("Bob", "hello", "m-1");
  EXPECT_EQ(bob.next_body(), "hello");
}

TEST(Workspaces, AreListedWithPidRootSocketAndCounts) {
  DaemonProcess daemon;
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  RawClient alice{daemon.socket()};
  alice.hello("Alice");
  RawClient control{daemon.control_socket()};
  const auto response = request(control, "WORKSPACE_LIST");
  EXPECT_EQ(integer_member(response, "pid"), daemon.pid());
  EXPECT_EQ(string_member(response, "home"), daemon.home());
  EXPECT_FALSE(string_member(response, "version").value_or("").empty());
  const auto& list = *array_member(response, "workspaces");
  ASSERT_EQ(list.size(), 1U);
  const auto& workspace = list[0].get_object();
  EXPECT_EQ(string_member(workspace, "root"), daemon.project());
  EXPECT_EQ(string_member(workspace, "socket"), daemon.socket());
  EXPECT_EQ(string_member(workspace, "storage"), "sqlite");
  EXPECT_EQ(integer_member(workspace, "connected"), 1);
  EXPECT_EQ(integer_member(workspace, "known"), 1);
}

TEST(Workspaces, OpenIsIdempotentAndRefusesAMissingRoot) {
  DaemonProcess daemon;
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  RawClient control{daemon.control_socket()};
  for (const std::string spelling : {"", "/", "/./", "/.git/.."}) {
    const auto again = request(control, "WORKSPACE_OPEN", root_payload(daemon.project() + spelling));
    EXPECT_EQ(bool_member(again, "ok"), true) << spelling;
    EXPECT_EQ(array_member(again, "workspaces")->size(), 1U) << spelling;
  }
  const auto refused = request(control, "WORKSPACE_OPEN", root_payload("/no/such/root"));
  EXPECT_EQ(bool_member(refused, "ok"), false);
  EXPECT_NE(string_member(refused, "error")->find("no such directory"), std::string::npos);
  EXPECT_EQ(array_member(refused, "workspaces")->size(), 1U);
}

TEST(Workspaces, CloseSeparatelyAndStayClosedAfterARestart) {
  DaemonProcess daemon;
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  RawClient control{daemon.control_socket()};
  request(control, "WORKSPACE_OPEN", root_payload(daemon.project("other")));
  RawClient alice{daemon.socket()};
  RawClient bob{daemon.socket("other")};
  alice.hello("Alice");
  bob.hello("Bob");

  EXPECT_EQ(bool_member(request(control, "WORKSPACE_CLOSE", root_payload(daemon.path("other"))), "ok"), true);
  bob.receive_type("BYE");
  EXPECT_TRUE(bob.is_closed());
  EXPECT_FALSE(fs::exists(daemon.socket("other")));
  alice.send_frame(envelope("STATUS", "s-1"));
  alice.receive_type("STATUS_RESPONSE");
  const auto again = request(control, "WORKSPACE_CLOSE", root_payload(daemon.path("other")));
  EXPECT_NE(string_member(again, "error")->find("is not open"), std::string::npos);

  daemon.terminate(SIGTERM);
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  EXPECT_FALSE(fs::exists(daemon.socket("other")));
}

TEST(Workspaces, AreOpenedAgainAfterARestartExceptMissingRoots) {
  DaemonProcess daemon;
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  RawClient control{daemon.control_socket()};
  request(control, "WORKSPACE_OPEN", root_payload(daemon.project("other")));
  request(control, "WORKSPACE_OPEN", root_payload(daemon.project("vanishing")));
  daemon.terminate(SIGKILL);
  fs::remove_all(daemon.path("vanishing"));

  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  RawClient bob{daemon.socket("other")};
  bob.hello("Bob");
  EXPECT_NE(daemon.log().find("vanishing"), std::string::npos);
}

TEST(Workspaces, ControlSocketRejectsOtherFramesWithAReason) {
  DaemonProcess daemon;
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  RawClient control{daemon.control_socket()};
  control.send_frame(envelope("HELLO", "h-1", R"({"agent":"Alice"})"));
  EXPECT_NE(payload_string(control.receive_type("ERROR"), "message").find("daemon's control socket"),
            std::string::npos);
  EXPECT_EQ(bool_member(request(control, "WORKSPACE_LIST"), "ok"), true);
  control.send_frame("[]");
  EXPECT_FALSE(payload_string(control.receive_type("ERROR"), "message").empty());
  EXPECT_TRUE(control.is_closed());
}

TEST(Workspaces, ShutdownFrameStopsTheDaemon) {
  DaemonProcess daemon;
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  RawClient control{daemon.control_socket()};
  EXPECT_EQ(bool_member(request(control, "SHUTDOWN"), "ok"), true);
  EXPECT_EQ(daemon.wait().exit_code, 0) << daemon.log();
}

}  // namespace
}  // namespace relay::integration
