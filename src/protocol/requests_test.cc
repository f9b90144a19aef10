#include "protocol/requests.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "protocol/limits.h"

namespace relay::protocol {
namespace {

TEST(ChannelRequests, JoinAndLeave) {
  const auto join = *parse_channel_change(R"({"channel":"#dev","displayName":"A","avatarUrl":"u","member":"Bob"})");
  EXPECT_EQ(join.channel, "#dev");
  EXPECT_EQ(join.member, "Bob");
  EXPECT_EQ(join.display_name, "A");
  EXPECT_EQ(join.avatar_url, "u");
  const auto leave = *parse_channel_change(R"({"channel":"#dev","reason":"done"})");
  EXPECT_EQ(leave.member, "");
  EXPECT_EQ(leave.reason, "done");
  for (const auto* bad : {"{}", R"({"channel":""})", R"({"channel":5})", R"({"channel":"#a\n"})",
                          R"({"channel":"#a","member":"a b"})", R"({"channel":"#a","member":""})"}) {
    EXPECT_FALSE(parse_channel_change(bad)) << bad;
  }
  EXPECT_FALSE(parse_channel_change(format(R"({{"channel":"{}"}})", std::string(kMaxTopicBytes + 1, 'c'))));
}

TEST(ChannelRequests, Post) {
  const auto post = *parse_channel_message(R"({"channel":"#dev","body":"x","thread":"t","mentions":["A"]})");
  EXPECT_EQ(post.channel, "#dev");
  EXPECT_EQ(post.thread, "t");
  for (const auto* bad : {R"({"body":"x"})", R"({"channel":"#a","body":5})", R"({"channel":"#a","thread":5})"}) {
    EXPECT_FALSE(parse_channel_message(bad)) << bad;
  }
}

TEST(ShadowRequests, BindAndUnbind) {
  const auto bind =
      *parse_shadow_bind(R"({"primaryAgent":"A","speakOn":["SESSION_END","ALL_MESSAGES"],"receiveIncoming":false})");
  EXPECT_EQ(bind.primary, "A");
  EXPECT_EQ(bind.speak_on, (std::vector<std::string>{"SESSION_END", "ALL_MESSAGES"}));
  EXPECT_FALSE(bind.receive_incoming);
  EXPECT_TRUE(bind.receive_outgoing);
  EXPECT_TRUE(parse_shadow_bind(R"({"primaryAgent":"A"})")->speak_on.empty());
  EXPECT_EQ(*parse_shadow_unbind(R"({"primaryAgent":"A"})"), "A");
  for (const auto* bad : {"{}", R"({"primaryAgent":"*"})", R"({"primaryAgent":"A","speakOn":"SESSION_END"})",
                          R"({"primaryAgent":"A","speakOn":["WHENEVER"]})", R"({"primaryAgent":"A","speakOn":[5]})",
                          R"({"primaryAgent":"A","receiveIncoming":"no"})"}) {
    EXPECT_FALSE(parse_shadow_bind(bad)) << bad;
  }
  EXPECT_FALSE(parse_shadow_unbind("{}"));
}

TEST(QueryRequests, Inbox) {
  const auto inbox = *parse_inbox(R"({"agent":"A","limit":10,"unreadOnly":true,"from":"B","channel":"#c"})");
  EXPECT_EQ(inbox.agent, "A");
  EXPECT_EQ(inbox.limit, 10u);
  EXPECT_TRUE(inbox.unread_only);
  EXPECT_EQ(inbox.from, "B");
  EXPECT_EQ(inbox.channel, "#c");
  EXPECT_EQ(parse_inbox("{}")->limit, 0u);
  EXPECT_EQ(parse_inbox(R"({"limit":1e9})")->limit, kMaxQueryRows);
  for (const auto* bad : {R"({"limit":-1})", R"({"limit":"all"})", R"({"agent":5})"}) EXPECT_FALSE(parse_inbox(bad));
}

TEST(QueryRequests, Messages) {
  const auto query = *parse_messages_query(
      R"({"limit":5,"sinceTs":1000,"from":"A","to":"B","thread":"t","order":"asc","id":"7kq2","search":"green build",)"
      R"("afterKey":77,"beforeKey":99})");
  EXPECT_EQ(query.limit, 5u);
  EXPECT_EQ(query.since, 1000);
  EXPECT_EQ(query.from, "A");
  EXPECT_EQ(query.to, "B");
  EXPECT_EQ(query.thread, "t");
  EXPECT_TRUE(query.ascending);
  EXPECT_EQ(query.id, "7kq2");
  EXPECT_EQ(query.search, "green build");
  EXPECT_EQ(query.after_key, 77);
  EXPECT_EQ(query.before_key, 99);
  EXPECT_EQ(parse_inbox(R"({"beforeKey":99})")->before_key, 99);
  EXPECT_FALSE(parse_messages_query("{}")->ascending);
  EXPECT_FALSE(parse_messages_query(R"({"order":"desc"})")->ascending);
  for (const auto* bad :
       {R"({"order":"up"})", R"({"sinceTs":"x"})", R"({"afterKey":-1})", R"({"beforeKey":-1})", R"({"search":5})"}) {
    EXPECT_FALSE(parse_messages_query(bad)) << bad;
  }
}

TEST(QueryRequests, AgentsHealthMetrics) {
  EXPECT_FALSE(parse_list_agents("{}")->include_idle);
  EXPECT_TRUE(parse_list_agents(R"({"includeIdle":true,"project":"x"})")->include_idle);
  EXPECT_FALSE(parse_list_agents(R"({"includeIdle":"all"})"));
  EXPECT_EQ(parse_list_agents(R"({"agent":"A"})")->agent, "A");
  EXPECT_EQ(parse_list_agents(R"({"after":"A"})")->after, "A");
  EXPECT_FALSE(parse_list_agents(R"({"agent":5})"));
  const auto remove = *parse_remove_agent(R"({"name":"A","removeMessages":true})");
  EXPECT_EQ(remove.name, "A");
  EXPECT_TRUE(remove.remove_messages);
  EXPECT_FALSE(parse_remove_agent("{}"));
  EXPECT_FALSE(parse_remove_agent(R"({"name":""})"));
  EXPECT_FALSE(parse_health(R"({"includeCrashes":false})")->include_crashes);
  EXPECT_TRUE(parse_health("{}")->include_alerts);
  EXPECT_FALSE(parse_health(R"({"includeAlerts":0})"));
  EXPECT_EQ(*parse_metrics("{}"), "");
  EXPECT_EQ(*parse_metrics(R"({"agent":"A"})"), "A");
  EXPECT_FALSE(parse_metrics(R"({"agent":5})"));
}

TEST(SingleStringRequests, NameAndTrace) {
  EXPECT_EQ(*parse_name(R"({"name":"A","cli":"claude"})"), "A");
  EXPECT_FALSE(parse_name("{}"));
  EXPECT_FALSE(parse_name(format(R"({{"name":"{}"}})", std::string(10'000, 'n'))));
  EXPECT_EQ(*parse_trace(R"({"id":"7kq2m9xa"})"), "7kq2m9xa");
  EXPECT_FALSE(parse_trace(R"({"id":""})"));
}

TEST(EventRequests, Subscribe) {
  const auto all = *parse_events_subscribe("{}");
  EXPECT_TRUE(all.filter.types.empty());
  EXPECT_EQ(all.since, -1);
  const auto some = *parse_events_subscribe(R"({"types":["message"],"agents":["A"],"sessions":["s"],"since":0})");
  EXPECT_EQ(some.filter.types, std::vector<std::string>{"message"});
  EXPECT_EQ(some.filter.agents, std::vector<std::string>{"A"});
  EXPECT_EQ(some.filter.sessions, std::vector<std::string>{"s"});
  EXPECT_EQ(some.since, 0);
  EXPECT_EQ(parse_events_subscribe(R"({"since":-9})")->since, -1);
  EXPECT_EQ(parse_events_subscribe(R"({"sinceTs":1700000000000})")->since_ts, 1'700'000'000'000);
  for (const auto* bad : {R"({"types":"all"})", R"({"types":[1]})", R"({"since":"x"})", R"({"agents":{}})"}) {
    EXPECT_FALSE(parse_events_subscribe(bad)) << bad;
  }
  std::string types;
  for (std::size_t i = 0; i <= kMaxEventTypes; ++i) types += "\"t\",";
  EXPECT_FALSE(parse_events_subscribe(format(R"({{"types":[{}"t"]}})", types)));
}

TEST(EventRequests, Queries) {
  const auto page =
      *parse_events_query(R"({"after":7,"limit":5,"newest":true,"sinceTs":1,"untilTs":2,"types":["item"]})");
  EXPECT_EQ(page.after, 7);
  EXPECT_EQ(page.limit, 5u);
  EXPECT_TRUE(page.newest);
  EXPECT_EQ(page.until_ts, 2);
  EXPECT_EQ(parse_events_query(R"({"limit":99999})")->limit, kMaxQueryRows);
  EXPECT_FALSE(parse_events_query(R"({"limit":-1})"));
  const auto usage = *parse_usage_query(R"({"agent":"A","session":"s","sinceTs":5})");
  EXPECT_EQ(usage.agent, "A");
  EXPECT_EQ(usage.since_ts, 5);
  EXPECT_EQ(*parse_session_query(R"({"id":"s-1"})"), "s-1");
  EXPECT_FALSE(parse_session_query("{}"));
}

TEST(EventRequests, EventOfASession) {
  EXPECT_EQ(*parse_agent_event(R"({"event":{"type":"item.started"}})"), R"({"type":"item.started"})");
  for (const auto* bad : {"{}", R"({"event":[]})", R"({"event":"x"})"}) EXPECT_FALSE(parse_agent_event(bad)) << bad;
}

TEST(SessionRequests, LogAndState) {
  const auto line = *parse_log(R"({"data":"out\n","timestamp":1000})");
  EXPECT_EQ(line.data, "out\n");
  EXPECT_EQ(line.timestamp, 1000);
  EXPECT_FALSE(parse_log(R"({"data":5})"));
  for (const auto* state : {"starting", "active", "typing", "idle", "waiting", "blocked", "paused", "unknown"}) {
    EXPECT_EQ(parse_session_state(format(R"({{"state":"{}"}})", state))->state, state);
  }
  EXPECT_EQ(parse_session_state(R"({"state":"idle","reason":"done"})")->reason, "done");
  EXPECT_EQ(parse_session_state(R"({"state":"idle","capabilities":{"output":"screen"}})")->capabilities,
            R"({"output":"screen"})");
  EXPECT_FALSE(parse_session_state(R"({"state":"idle","capabilities":"all"})"));
  EXPECT_FALSE(parse_session_state(
      format(R"({{"state":"idle","capabilities":{{"a":"{}"}}}})", std::string(kMaxCapabilitiesBytes, 'a'))));
  EXPECT_FALSE(parse_session_state("{}"));
  const auto refused = parse_session_state(R"({"state":"dreaming"})");
  ASSERT_FALSE(refused);
  for (const auto* state : {"starting", "active", "typing", "idle", "waiting", "blocked", "paused", "unknown"})
    EXPECT_NE(refused.error().message().find(state), std::string::npos) << state;
}

TEST(SessionRequests, LeaveRoomForForwardingFrame) {
  EXPECT_FALSE(parse_log(format(R"({{"data":"{}"}})", std::string(kMaxFrameBytes - kEnvelopeReserveBytes, 'd'))));
  EXPECT_FALSE(parse_channel_change(
      format(R"({{"channel":"#a","more":"{}"}})", std::string(kMaxFrameBytes - kEnvelopeReserveBytes, 'm'))));
}

TEST(WorkspaceRequests, RequireAbsolutePath) {
  const auto workspace = *parse_workspace(R"({"root":"/home/me/project","socket":"/tmp/r.sock"})");
  EXPECT_EQ(workspace.root, "/home/me/project");
  EXPECT_EQ(workspace.socket, "/tmp/r.sock");
  EXPECT_EQ(parse_workspace(R"({"root":"/p"})")->socket, "");
  for (const auto* bad : {"{}", R"({"root":""})", R"({"root":"p"})", R"({"root":"/a\u0000b"})",
                          R"({"root":"/p","socket":"r.sock"})", R"({"root":5})"}) {
    EXPECT_FALSE(parse_workspace(bad)) << bad;
  }
  EXPECT_FALSE(parse_workspace(format(R"({{"root":"/{}"}})", std::string(kMaxPathBytes, 'p'))));
}

}  // namespace
}  // namespace relay::protocol
