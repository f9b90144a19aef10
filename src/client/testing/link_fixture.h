/// A link between a virtual loop, a scripted daemon and a recording program.
#pragma once

#include <gtest/gtest.h>

#include "base/format.h"
#include "client/testing/recording_listener.h"
#include "client/testing/scripted_daemon.h"
#include "client/testing/virtual_loop.h"

namespace relay::client::testing {

struct LinkFixture : ::testing::Test {
  VirtualLoop loop;
  ScriptedDaemon daemon;
  SeededRandom random{11};
  Outbox outbox{Numbering::Epoch, {}, random};
  RecordingListener program;
  LinkOptions options = [] {
    LinkOptions made;
    made.socket_path = "/run/relay.sock";
    made.hello.agent = "Alice";
    return made;
  }();
  std::unique_ptr<Link> link;

  void start() {
    link = std::make_unique<Link>(loop, daemon, random, outbox, options, program);
    link->start();
    loop.run_now();
  }
  void start_ready() {
    start();
    daemon.welcome();
    (void)daemon.take_frames();
  }
  /// Loses the connection and lets the link reconnect, up to its HELLO.
  void reconnect() {
    daemon.disconnect();
    loop.advance(Millis{200});
    ASSERT_TRUE(daemon.connected());
  }

  std::string id(int n) { return format("{}-{}", outbox.epoch(), n); }
  std::string send(std::string_view body) {
    return *link->send({"Bob", format(R"({{"kind":"message","body":"{}"}})", body)});
  }
  void ack(const std::string& message) {
    daemon.send(protocol::MessageType::Ack, "a", format(R"({{"ack_id":"{}"}})", message));
  }
  void nack(const std::string& message, std::string_view code, int retry_after_ms = 0) {
    daemon.send(
        protocol::MessageType::Nack, "n",
        format(R"({{"nack_id":"{}","code":"{}","message":"no","retry_after_ms":{}}})", message, code, retry_after_ms));
  }
  void deliver(int seq, std::string_view from = "Bob", std::string_view topic = {}) {
    daemon.send(protocol::MessageType::Deliver, format("d-{}{}", from, seq), R"({"body":"x"})", from, topic,
                format(R"({{"seq":{},"session_id":"s1"}})", seq));
  }
  /// The frames that the daemon received, as "TYPE" or "SEND n" / "ACK id".
  std::vector<std::string> sent_frames() {
    std::vector<std::string> all;
    for (const auto& frame : daemon.take_frames()) {
      if (frame.type == "SEND")
        all.push_back("SEND " + frame.id.substr(frame.id.rfind('-') + 1));
      else if (frame.type == "ACK")
        all.push_back("ACK " + string_member(frame.payload, "ack_id").value_or(""));
      else
        all.push_back(frame.type);
    }
    return all;
  }
};

using Frames = std::vector<std::string>;

}  // namespace relay::client::testing
