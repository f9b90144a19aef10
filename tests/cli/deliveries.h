/// The fixture for tests of deliveries and conversations.
#pragma once

#include "base/format.h"
#include "cli/agents.h"
#include "cli/wire/daemon_connection.h"

namespace relay::cli_tests {

/// Agents in terminals, and chats that only print messages.
struct Deliveries : Agents {
  void join(const std::string& name) { box.ok({"chat", "--name", name}); }
  std::unique_ptr<Background> listen(const std::string& name) {
    auto chat = box.start({"chat", "--name", name, "--listen"});
    EXPECT_TRUE(is_connected(name));
    return chat;
  }
  /// Sends HELLO under the agent's name, with its claim token, and disconnects.
  void take_name_briefly(const std::string& name) {
    auto token = file_contents(box.workspace_directory() + "/outboxes/" + name + ".outbox.claim");
    while (token.ends_with('\n')) token.pop_back();
    ASSERT_FALSE(token.empty());
    auto daemon = cli::DaemonConnection::open(*string_member(box.ok_json({"status"}), "socket"));
    ASSERT_TRUE(daemon) << daemon.error().message();
    const auto hello = format(R"({{"agent":"{}","session":{{"claim_token":"{}"}}}})", name, token);
    ASSERT_TRUE(daemon->send({.type = protocol::MessageType::Hello, .id = {}, .payload = hello}));
    const auto welcome = daemon->receive(cli::in(std::chrono::seconds{10}));
    ASSERT_TRUE(welcome) << welcome.error().message();
    ASSERT_EQ(welcome->envelope.type, protocol::MessageType::Welcome) << welcome->envelope.payload;
  }
  /// The output of `trace`.
  std::string trace_text(const std::string& id) { return box.ok({"trace", id}); }
  bool trace_shows(const std::string& id, const std::string& words) {
    return until([&] { return trace_text(id).find(words) != std::string::npos; });
  }
  static bool has(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }
};

}  // namespace relay::cli_tests
