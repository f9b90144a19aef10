/// A whole host in a test: a fake agent, a fake user terminal and a scripted daemon on a manual clock.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/format.h"
#include "client/testing/memory_directory.h"
#include "client/testing/scripted_daemon.h"
#include "client/testing/virtual_loop.h"
#include "host/host.h"
#include "host/testing/fake_agent.h"
#include "host/testing/fake_user_terminal.h"
#include "net/testing/temporary_directory.h"
#include "protocol/frame.h"

namespace relay::host::testing {

/// A client of the host socket.
class HostClient final : public net::Stream {
 public:
  void request(std::string_view json) {
    std::string bytes;
    protocol::append_frame(bytes, protocol::HeaderStyle::Four, json);
    listener_->on_bytes(bytes);
  }
  /// The JSON frames received since the last call.
  std::vector<std::string> received() {
    std::vector<std::string> frames;
    for (auto frame = reader_.next(); frame && *frame; frame = reader_.next())
      if ((**frame).starts_with('{')) frames.emplace_back(**frame);
    return frames;
  }

  void start(net::StreamListener& listener) override { listener_ = &listener; }
  void write(std::string_view bytes) override { reader_.push(bytes); }
  [[nodiscard]] std::size_t bytes_waiting() const override { return 0; }
  void pause_reading() override {}
  void resume_reading() override {}
  void close(net::Drain) override {}
  [[nodiscard]] net::Peer peer() const override { return {}; }

 private:
  net::StreamListener* listener_ = nullptr;
  protocol::FrameReader reader_;
};

struct HostFixture : ::testing::Test, net::Network {
  client::testing::VirtualLoop loop;
  client::testing::ScriptedDaemon daemon;
  SeededRandom random{7};
  client::Outbox outbox{client::Numbering::Epoch, {}, random};
  client::testing::MemoryDirectory disk;
  net::testing::TemporaryDirectory project;
  net::OnAccept accept;
  HostOptions options = make_options();
  FakeAgent::Options agent_options;
  FakeAgent* agent = nullptr;        // of the running host
  FakeUserTerminal* user = nullptr;  // likewise; null when detached
  bool finished = false;
  std::vector<std::string> started;  // outcomes of `on_started`
  std::unique_ptr<Host> host;

  HostOptions make_options() {
    HostOptions made;
    made.record = {.id = "0a1b2c3d", .name = "Bob", .cli = "fake_agent"};
    made.paths.workspace_socket = "/run/relay.sock";
    made.paths.project_root = project.path();
    made.paths.records = project.path();
    made.paths.socket = "/run/bob.sock";
    made.paths.state_directory = &disk;
    made.paths.intent_file = "Bob.intent";
    made.paths.long_texts = {"messages"};
    made.paths.outgoing = {"outbox"};
    made.profile = FakeAgent::profile();
    return made;
  }

  Result<void> start_host() {
    auto copy = make_options();
    copy.record = options.record;
    copy.profile = options.profile;
    copy.detached = options.detached;
    copy.adapter = std::move(options.adapter);
    copy.start = [this](pty::WindowSize size, pty::ProgramListener& listener) -> Result<std::unique_ptr<pty::Program>> {
      auto made = std::make_unique<FakeAgent>(loop, listener, size, agent_options);
      agent = made.get();
      return made;
    };
    copy.open_user_terminal =
        [this](pty::UserTerminalListener& listener) -> Result<std::unique_ptr<pty::UserTerminal>> {
      auto made = std::make_unique<FakeUserTerminal>(listener);
      user = made.get();
      return made;
    };
    copy.on_started = [this](const Result<pid_t>& pid) { started.push_back(pid ? "started" : pid.error().message()); };
    copy.on_finished = [this] { finished = true; };
    host = std::make_unique<Host>(HostEnvironment{.loop = loop, .network = *this, .random = random, .outbox = outbox},
                                  std::move(copy));
    return host->start();
  }
  /// Runs until the agent is idle and the daemon has admitted it.
  void start_idle() {
    ASSERT_TRUE(start_host());
    loop.run_now();
    daemon.welcome();
    loop.advance(Millis{3'000});
    (void)daemon.take_frames();
  }
  /// Like `kill -9`: nothing is sent or removed.
  void crash() {
    daemon.disconnect();
    host.reset();
    agent = nullptr;
    user = nullptr;
  }

  void deliver(const std::string& id, std::string_view body, std::string_view from = "Alice", int seq = 1) {
    daemon.send(protocol::MessageType::Deliver, id, format(R"({{"kind":"message","body":"{}"}})", body), from, {},
                format(R"({{"seq":{},"session_id":"s1","message_id":"m-{}"}})", seq, id));
  }
  /// The receipts the daemon received, as "status proof: reason".
  std::vector<std::string> receipts() {
    std::vector<std::string> all;
    for (const auto& frame : daemon.take_frames()) {
      if (frame.type != "RECEIPT") continue;
      const auto field = [&](std::string_view name) { return string_member(frame.payload, name).value_or(""); };
      auto line = field("status");
      if (!field("proof").empty()) line += " " + field("proof");
      if (!field("reason").empty()) line += ": " + field("reason");
      all.push_back(line);
    }
    return all;
  }
  HostClient& connect_client() {
    auto made = std::make_unique<HostClient>();
    auto& client = *made;
    accept(std::move(made));
    return client;
  }
  [[nodiscard]] bool agent_has(std::string_view text) const {
    return std::ranges::any_of(agent->prompts(), [&](const auto& prompt) { return prompt.contains(text); });
  }

  struct SocketListener final : net::Listener {
    std::string at = "/run/bob.sock";
    [[nodiscard]] const std::string& path() const override { return at; }
  };
  Result<std::unique_ptr<net::Listener>> listen(const std::string&, net::OnAccept on_accept) override {
    accept = std::move(on_accept);
    return std::make_unique<SocketListener>();
  }
  void connect(const std::string& path, net::OnConnect on_connect) override {
    daemon.connect(path, std::move(on_connect));
  }
};

}  // namespace relay::host::testing
