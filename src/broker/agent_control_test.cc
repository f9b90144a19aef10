// CONTROL, TOPICS and CHANNEL_JOIN by an agent: only for itself and the agents it started.
#include <gtest/gtest.h>

#include "broker/testing/authority_fixture.h"

namespace relay::broker {
namespace {

using namespace testing;
using protocol::agent_origin;
using protocol::PeerOrigin;

constexpr std::int32_t kPeerPid = 42;  // of every connection of the fixture

/// CONTROL by a process inside Carol, who started Worker.
struct AgentControl : AuthorityFixture {
  std::vector<Worker> workers = [] {
    Worker started;
    started.name = "Worker";
    started.spawner = "Carol";
    started.pid = kPeerPid;
    return std::vector{started};
  }();
  ConnectionId carol = fixture.join_with_acks("Carol"), worker = fixture.join_with_acks("Worker");
  ConnectionId shell = fixture.join_from(agent_origin("Carol"), "cli", kCommandLine);

  Frame control(ConnectionId by, const std::string& members) {
    fixture.drop_received(by);
    fixture.request(by, "CONTROL", "{" + members + "}");
    for (const auto& list : fixture.host_requests<ListHosts>()) fixture.hosts_listed(list.id, workers);
    const auto results = fixture.received(by, "CONTROL_RESULT");
    return results.empty() ? Frame{} : payload(results.front());
  }
  void expect_refused(ConnectionId by, const std::string& members) {
    const auto refused = control(by, members);
    EXPECT_EQ(string_field(refused, "code"), "REFUSED") << members << json::serialize(refused);
    EXPECT_TRUE(string_field(refused, "error").starts_with("only the user may ")) << json::serialize(refused);
  }
  void expect_done(ConnectionId by, const std::string& members) {
    const auto done = control(by, members);
    EXPECT_EQ(done.at("success"), true) << members << json::serialize(done);
  }
  /// Sends a message to an offline agent; returns the id of its delivery.
  std::string send_offline(ConnectionId from, const std::string& to) {
    fixture.drop_received(from);
    fixture.send(from, "m", to, "text");
    return delivery_of_sent(from);
  }
};

TEST_F(AgentControl, AgentPausesOnlyItselfAndAgentsItStarted) {
  const auto session = fixture.join_from(agent_origin("Dora"), "Dora", R"("capabilities":{"send_ack":true})");
  for (const auto by : {shell, session, fixture.join_from(PeerOrigin{}, "cli", kCommandLine)})
    expect_refused(by, R"("action":"pause","agent":"Bob")");
  expect_refused(session, R"("action":"pause","agent":"Worker")");
  expect_done(shell, R"("action":"pause","agent":"Worker")");
  expect_done(shell, R"("action":"pause","agent":"Carol")");
  expect_done(session, R"("action":"pause","agent":"Dora")");
  expect_done(fixture.join_user(), R"("action":"pause","agent":"Bob")");
  EXPECT_TRUE(fixture.host_requests<ListHosts>().empty()) << "a request of the user needs no lookup";
}

TEST_F(AgentControl, HostWithNameOfOtherSessionGrantsNoControl) {
  workers.push_back(workers.front());
  workers.back().name = "Zed";
  workers.back().pid = kPeerPid + 1;
  const auto zed = fixture.join_with_acks("Zed");
  expect_refused(shell, R"("action":"pause","agent":"Zed")");
  expect_refused(shell, R"("action":"flush","agent":"Zed")");
  fixture.disconnect(zed);
  expect_refused(shell, format(R"("action":"cancel","deliveryId":"{}")", send_offline(bob, "Zed")));
  expect_refused(shell, R"("action":"pause","agent":"Zed")");
}

TEST_F(AgentControl, AgentControlsOfflineAgentItStarted) {
  fixture.disconnect(worker);
  expect_done(shell, R"("action":"pause","agent":"Worker")");
  fixture.restart();  // its host has not connected again
  shell = fixture.join_from(agent_origin("Carol"), "cli", kCommandLine);
  expect_done(shell, R"("action":"flush","agent":"Worker")");
}

TEST_F(AgentControl, RequestOfDisconnectedAgentPausesNoAgent) {
  fixture.request(shell, "CONTROL", R"({"action":"pause","agent":"Bob"})");
  fixture.disconnect(shell);
  fixture.hosts_listed(fixture.host_requests<ListHosts>().at(0).id, workers);
  fixture.send(worker, "m", "Bob", "still delivered");
  EXPECT_EQ(fixture.bodies(bob), Strings{"still delivered"});
}

TEST_F(AgentControl, AgentPausesItselfWhenHostsCannotBeListed) {
  fixture.drop_received(shell);
  fixture.request(shell, "CONTROL", R"({"action":"pause","agent":"Carol"})");
  fixture.hosts_listed(fixture.host_requests<ListHosts>().at(0).id, fail("no hosts"));
  EXPECT_EQ(payload(fixture.first_frame(shell, "CONTROL_RESULT")).at("success"), true);
}

TEST_F(AgentControl, AgentFlushesOnlyItsOwnMessages) {
  expect_refused(shell, R"("action":"flush","agent":"Bob")");
  expect_done(shell, R"("action":"flush","agent":"Carol")");
}

TEST_F(AgentControl, AgentCannotFlushDeliveriesHeldByPolicy) {
  const auto user = fixture.join_user();
  expect_done(user, R"("action":"policy","agent":"Carol","rules":[{"from":"*","action":"hold"}])");
  fixture.send(bob, "m", "Carol", "held");
  expect_refused(shell, R"("action":"flush","agent":"Carol")");
  EXPECT_TRUE(fixture.bodies(carol).empty());
  expect_done(user, R"("action":"flush","agent":"Carol")");
  EXPECT_EQ(fixture.bodies(carol), Strings{"held"});
}

TEST_F(AgentControl, AgentCancelsOnlyDeliveriesItSentOrReceives) {
  fixture.disconnect(bob);
  const auto others = send_offline(fixture.join_with_acks("Dora"), "Bob");
  expect_refused(shell, format(R"("action":"cancel","deliveryId":"{}")", others));
  expect_done(shell, format(R"("action":"cancel","deliveryId":"{}")", send_offline(carol, "Bob")));
  expect_done(shell, format(R"("action":"cancel","deliveryId":"{}")", send_offline(worker, "Bob")));
}

TEST_F(AgentControl, AgentRedeliversNoDeliveriesOfOthers) {
  expect_refused(shell, R"("action":"redeliver","all":true)");
  expect_refused(shell, R"("action":"redeliver","all":true,"agent":"Bob")");
  expect_done(shell, R"("action":"redeliver","all":true,"agent":"Worker")");
}

TEST_F(AgentControl, AgentChangesOnlyItsOwnTopicsAndChannels) {
  const auto topics = [&](const std::string& name) {
    return fixture.response(shell, "TOPICS", format(R"({{"action":"subscribe","topic":"t","agent":"{}"}})", name));
  };
  EXPECT_EQ(string_field(topics("Bob"), "code"), "REFUSED");
  EXPECT_EQ(topics("Carol").at("success"), true);
  fixture.request(shell, "CHANNEL_JOIN", R"({"channel":"#dev","member":"Bob"})");
  const auto refused = fixture.received(shell, "ERROR");
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_TRUE(string_field(payload(refused.front()), "message").starts_with("only the user may "))
      << json::serialize(refused[0]);
  fixture.request(shell, "CHANNEL_JOIN", R"({"channel":"#dev","member":"Carol"})");
  EXPECT_TRUE(fixture.received(shell, "ERROR").empty());
  fixture.request(fixture.join_user(), "CHANNEL_JOIN", R"({"channel":"#dev","member":"Bob"})");
  const auto members = fixture.response(shell, "CHANNELS", R"({"channel":"#dev"})");
  EXPECT_EQ(members.at("members").as_array().size(), 2u) << json::serialize(members);
}

TEST_F(AgentControl, ObservedAgentIsNotPaused) {
  fixture.join_from(protocol::daemon_origin(), "claude-c442", format(R"("program":"{}")", protocol::kObserverProgram));
  const auto refused = control(fixture.join_user(), R"("action":"pause","agent":"claude-c442")");
  EXPECT_EQ(string_field(refused, "code"), "UNSUPPORTED") << json::serialize(refused);
  EXPECT_EQ(string_field(refused, "error"),
            "claude-c442 is only observed: it was started without agent-relay, so it cannot be paused");
}

}  // namespace
}  // namespace relay::broker
