// Events over HTTP from the real daemon with real agents: streams and the WebSocket end to end.
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>

#include "api/http.h"
#include "api/open_line.h"
#include "cli/sandbox.h"

namespace relay::api_tests {
namespace {

namespace fs = std::filesystem;

struct Watched : ::testing::Test {
  cli_tests::Sandbox box;
  std::unique_ptr<Http> http;

  void SetUp() override {
    box.ok({"up"});
    fs::create_directories(box.home() + "/profiles");
    fs::copy_file(SCRIPTED_PROFILE, box.home() + "/profiles/scripted.toml", fs::copy_options::overwrite_existing);
    http = std::make_unique<Http>(*string_member(box.ok_json({"status"}), "http"));
  }
  ~Watched() override {  // hosts are no children of the test
    std::error_code none;
    for (const auto& entry : fs::directory_iterator{box.workspace_directory() + "/hosts", none}) {
      std::ifstream file{entry.path()};
      const std::string text{std::istreambuf_iterator<char>{file}, {}};
      if (const auto record = parse_json_object(text); record && integer_member(*record, "hostPid"))
        ::kill(static_cast<pid_t>(*integer_member(*record, "hostPid")), SIGKILL);
    }
  }
  OpenLine line() { return OpenLine{http->port()}; }
  OpenLine reader(const std::string& target, std::string_view more = {}) {
    auto reading = line();
    reading.get(target, more);
    EXPECT_TRUE(reading.hears("retry: ")) << reading.heard;
    return reading;
  }
  std::string spawn(const std::string& name) {
    const json::object subscription = {{"agent", name}, {"cli", format("{} --status --work-ms 50", SCRIPTED_AGENT)}};
    const auto answer = http->ask("POST", "/api/v1/sessions", json::serialize(subscription));
    EXPECT_EQ(answer.status, 201) << answer.body;
    return string_member(answer.object(), "sessionId").value_or("");
  }
};

TEST_F(Watched, StreamsAllEventsThoseOfAnAgentAndOfASession) {
  EXPECT_EQ(http->ask("GET", "/api/v1/agents/Bob/events/sse").status, 404) << "there is no Bob yet";
  EXPECT_EQ(http->ask("GET", "/api/v1/sessions/nowhere/events/sse").status, 404);
  auto all = reader("/api/v1/events/sse");
  spawn("Eve");
  const auto session = spawn("Bob");
  auto bob = reader("/api/v1/agents/Bob/events/sse?types=session,agent&offset=0");
  ASSERT_TRUE(all.hears("event: session.started\n"));
  ASSERT_TRUE(all.hears("\"_agentName\":\"Bob\"")) << all.heard;
  ASSERT_TRUE(bob.hears("\"_agentName\":\"Bob\"")) << bob.heard;
  EXPECT_FALSE(bob.heard.contains("\"_agentName\":\"Eve\""));
  auto own = reader(format("/api/v1/sessions/{}/events/sse?offset=0", session));
  ASSERT_TRUE(own.hears("event: session.started\n"));
  EXPECT_FALSE(own.heard.contains("Eve"));
}

TEST_F(Watched, ResumesAfterLastEventIdAcrossADaemonRestart) {
  auto first = reader("/api/v1/events/sse?offset=0&types=session.started");
  spawn("Bob");
  ASSERT_TRUE(first.hears("event: session.started\nid: "));
  const auto at = first.heard.find("event: session.started\nid: ") + 27;
  const auto number = first.heard.substr(at, first.heard.find('\n', at) - at);
  box.ok({"down", "--all"});
  EXPECT_TRUE(first.hears("event: relay.resume\n")) << first.heard;
  SetUp();
  auto second = reader("/api/v1/events/sse?types=session.started", format("Last-Event-ID: {}\r\n", number));
  spawn("Eve");
  ASSERT_TRUE(second.hears("Eve"));
  EXPECT_FALSE(second.heard.contains(format("\nid: {}\n", number)));
}

TEST_F(Watched, WebSocketSendsSnapshotEventsAndTerminal) {
  spawn("Bob");
  auto socket = line();
  socket.ask_for_websocket("/ws");
  ASSERT_TRUE(socket.hears(R"({"type":"snapshot","workspace":{"id":")")) << socket.heard;
  ASSERT_TRUE(socket.hears("\"name\":\"Bob\""));
  socket.say_text(R"({"type":"watch","agent":"Bob"})");
  ASSERT_TRUE(socket.hears(R"({"type":"screen","agent":"Bob","columns":)")) << socket.heard;
  spawn("Eve");
  ASSERT_TRUE(socket.hears(R"({"type":"event","event":{"type":"session.started")"));
  EXPECT_EQ(http->ask("POST", "/api/v1/agents/Bob/stop").status, 200);
  EXPECT_TRUE(socket.hears(R"({"type":"screen-closed","agent":"Bob")"));
}

TEST_F(Watched, InvalidStartIsABadRequest) {
  const auto answer = http->ask("GET", "/api/v1/events/sse?offset=yesterday");
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(http->ask("GET", "/api/v1/agents/" + std::string(200, 'x') + "/events/sse?offset=0").status, 400);
  EXPECT_EQ(http->ask("GET", "/ws").status, 426);
}

}  // namespace
}  // namespace relay::api_tests
