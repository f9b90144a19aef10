#include "cli/wire/daemon_connection.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <filesystem>
#include <thread>

#include "cli/framework/exit_code.h"
#include "cli/wire/workspace.h"

namespace relay::cli {
namespace {

/// A minimal daemon: it accepts one peer and sends the frames of the test.
class DaemonConnectionTest : public ::testing::Test {
 protected:
  DaemonConnectionTest() {
    std::string pattern = "/tmp/connection-XXXXXX";
    directory_ = ::mkdtemp(pattern.data());
    path_ = directory_ + "/s";
    listener_.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path_.c_str(), path_.size() + 1);
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(::listen(listener_.get(), 1), 0);
  }
  ~DaemonConnectionTest() override { std::filesystem::remove_all(directory_); }

  /// The connected client; the daemon's end is `accepted_`.
  DaemonConnection connected() {
    auto connection = DaemonConnection::open(path_);
    EXPECT_TRUE(connection.has_value());
    accepted_.reset(::accept(listener_.get(), nullptr, nullptr));
    return *std::move(connection);
  }

  void send_frame(std::string_view json) {
    std::string bytes;
    protocol::append_frame(bytes, protocol::HeaderStyle::Four, json);
    EXPECT_EQ(::send(accepted_.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }

  std::string directory_, path_;
  UniqueFd listener_, accepted_;
};

TEST_F(DaemonConnectionTest, MissingListenerIsNoDaemonWithNextStep) {
  const auto connection = DaemonConnection::open(directory_ + "/nothing");
  ASSERT_FALSE(connection.has_value());
  EXPECT_EQ(exit_reason(connection.error()).code, ExitCode::NoDaemon);
  EXPECT_EQ(connection.error().message(),
            "cannot reach the daemon at " + directory_ + "/nothing: it is not running; start it with: agent-relay up");
}

TEST_F(DaemonConnectionTest, DaemonOfAnotherUserGetsNothing) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can act as two users";
  ASSERT_EQ(::seteuid(65534), 0);
  const int listening = ::listen(listener_.get(), 1);  // the kernel records the user of the listener
  ASSERT_EQ(::seteuid(0), 0);
  ASSERT_EQ(listening, 0);
  const auto connection = DaemonConnection::open(path_);
  ASSERT_FALSE(connection.has_value());
  EXPECT_EQ(exit_reason(connection.error()).code, ExitCode::Refused);
  EXPECT_NE(connection.error().message().find("another user (uid 65534)"), std::string::npos)
      << connection.error().message();
}

TEST_F(DaemonConnectionTest, TooLongPathIsNamed) {
  EXPECT_FALSE(DaemonConnection::open(directory_ + "/" + std::string(200, 'x')).has_value());
}

TEST_F(DaemonConnectionTest, FramesArriveInOrderAndUnknownTypesAreSkipped) {
  auto connection = connected();
  send_frame(R"({"v":1,"type":"FROM_THE_FUTURE","id":"0","ts":1,"payload":{}})");
  send_frame(R"({"v":1,"type":"ACK","id":"1","ts":1,"payload":{"ack_id":"a"}})");
  send_frame(R"({"v":1,"type":"BYE","id":"2","ts":1,"payload":{}})");
  EXPECT_EQ(connection.receive(in(kResponseTimeout)).value().envelope.id, "1");
  EXPECT_EQ(connection.receive(in(kResponseTimeout)).value().envelope.id, "2");
}

TEST_F(DaemonConnectionTest, PingIsAnsweredDuringWait) {
  auto connection = connected();
  send_frame(R"({"v":1,"type":"PING","id":"p","ts":1,"payload":{"nonce":"n1"}})");
  send_frame(R"({"v":1,"type":"BYE","id":"2","ts":1,"payload":{}})");
  EXPECT_EQ(connection.receive(in(kResponseTimeout)).value().envelope.type, protocol::MessageType::Bye);
  char buffer[512];
  const auto count = ::recv(accepted_.get(), buffer, sizeof(buffer), 0);
  const std::string received(buffer, static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  EXPECT_NE(received.find("\"PONG\""), std::string::npos);
  EXPECT_NE(received.find(R"({"nonce":"n1"})"), std::string::npos);
}

TEST_F(DaemonConnectionTest, WaitEndsAtDeadline) {
  auto connection = connected();
  const auto frame = connection.receive(in(std::chrono::milliseconds{1}));
  ASSERT_FALSE(frame.has_value());
  EXPECT_EQ(exit_reason(frame.error()).code, ExitCode::TimedOut);
}

TEST_F(DaemonConnectionTest, LostDaemonIsReported) {
  auto connection = connected();
  accepted_.reset();
  const auto frame = connection.receive(in(kResponseTimeout));
  ASSERT_FALSE(frame.has_value());
  EXPECT_TRUE(is(frame.error(), Errc::Lost));
}

TEST_F(DaemonConnectionTest, GarbageIsAnError) {
  auto connection = connected();
  ASSERT_EQ(::send(accepted_.get(), "\xff\xff\xff\xff junk", 9, 0), 9);
  EXPECT_FALSE(connection.receive(in(kResponseTimeout)).has_value());
}

TEST_F(DaemonConnectionTest, MessageTooLargeForFrameIsNotSent) {
  auto connection = connected();
  const std::string payload = "{\"body\":\"" + std::string(protocol::kMaxFrameBytes, 'x') + "\"}";
  const auto sent = connection.send({.type = protocol::MessageType::Send, .id = {}, .payload = payload});
  ASSERT_FALSE(sent.has_value());
  EXPECT_NE(sent.error().message().find("too large"), std::string::npos);
}

}  // namespace
}  // namespace relay::cli
