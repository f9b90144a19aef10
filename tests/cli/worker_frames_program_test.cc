// SPAWN, RELEASE and SEND_INPUT frames, as published clients send them.
#include "cli/spawned_agents.h"
#include "cli/terminal.h"
#include "cli/wire/daemon_connection.h"
#include "protocol/limits.h"

namespace relay::cli_tests {
namespace {

/// The requests of published clients, which go through the daemon instead of the host socket.
struct SpawnedByFrames : Spawned {
  cli::DaemonConnection daemon = connect();
  SpawnedByFrames() { EXPECT_TRUE(daemon.say_hello(box.system_token())); }

  cli::DaemonConnection connect() {
    return cli::DaemonConnection::open(*string_member(box.ok_json({"status"}), "socket")).value();
  }

  json::object request(protocol::MessageType type, const json::object& payload) {
    const auto answer = daemon.request(type, json::serialize(payload), std::chrono::seconds{20});
    EXPECT_TRUE(answer) << answer.error().message();
    return answer ? parse_json_object(*answer).value() : json::object{};
  }
  static bool succeeded(const json::object& answer) { return bool_member(answer, "success").value_or(false); }
};

TEST_F(SpawnedByFrames, NameIsFreeAfterRelease) {
  for (int i = 0; i < 20; ++i) {
    const auto started = request(protocol::MessageType::Spawn, {{"name", "Bob"}, {"cli", "cat"}});
    ASSERT_TRUE(succeeded(started)) << i << ": " << json::serialize(started);
    const auto released = request(protocol::MessageType::Release, {{"name", "Bob"}});
    ASSERT_TRUE(succeeded(released)) << i << ": " << json::serialize(released);
  }
}

TEST_F(SpawnedByFrames, LargestInputArrives) {
  const auto script = box.write(box.project() + "/agent.sh", "exec cat > got\n");
  ASSERT_TRUE(succeeded(request(protocol::MessageType::Spawn, {{"name", "Bob"}, {"cli", "sh " + script}})));
  std::string input;
  for (int i = 0; input.size() + 16 < protocol::kMaxInputBytes; ++i) input += format("\tü {}\n", i);
  EXPECT_FALSE(succeeded(request(protocol::MessageType::SendInput, {{"name", "bob"}, {"data", input}})));
  const auto typed = request(protocol::MessageType::SendInput, {{"name", "Bob"}, {"data", input}});
  EXPECT_TRUE(succeeded(typed)) << json::serialize(typed);
  EXPECT_TRUE(eventually([&] { return file_contents(box.project() + "/got") == input; }));
  EXPECT_TRUE(succeeded(request(protocol::MessageType::Release, {{"name", "Bob"}})));
}

TEST_F(SpawnedByFrames, NameInGracePeriodIsRefused) {
  {
    auto owner = connect();
    const auto hello = R"({"agent":"Bob","capabilities":{"send_ack":true},"session":{"claim_token":"another's"}})";
    ASSERT_TRUE(owner.send({.type = protocol::MessageType::Hello, .id = {}, .payload = hello}));
    ASSERT_TRUE(owner.receive(cli::in(cli::kResponseTimeout)));  // WELCOME
  }
  json::object refused;
  ASSERT_TRUE(eventually([&] {  // once the daemon has noticed the disconnect
    refused = request(protocol::MessageType::Spawn, {{"name", "Bob"}, {"cli", "cat"}, {"task", "go"}});
    return string_member(refused, "error").value_or("").find("is already connected") == std::string::npos;
  }));
  EXPECT_FALSE(succeeded(refused));
  EXPECT_NE(string_member(refused, "error").value_or("").find("has another owner"), std::string::npos)
      << json::serialize(refused);
  EXPECT_TRUE(eventually([&] { return host_pid("Bob") == 0; }));
}

TEST_F(SpawnedByFrames, UserAgentIsNotReleasedByOthers) {
  Terminal bob{box, {"-n", "Bob", SCRIPTED_AGENT, "--status", "--log", log_of("Bob")}};
  ASSERT_TRUE(is_connected("Bob") && bob.shows("Scripted agent"));
  for (const auto type : {protocol::MessageType::Release, protocol::MessageType::SendInput}) {
    const auto refused = request(type, {{"name", "Bob"}, {"data", "x"}});
    EXPECT_FALSE(succeeded(refused));
    EXPECT_NE(string_member(refused, "error").value_or("").find("not started by SPAWN"), std::string::npos);
  }
}

}  // namespace
}  // namespace relay::cli_tests
