#include "protocol/hello.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "protocol/description_limits.h"
#include "protocol/errors.h"

namespace relay::protocol {
namespace {

/// HELLO of the agent A with one more member.
Result<Hello> hello_with(std::string_view member) { return parse_hello(format(R"({{"agent":"A",{}}})", member)); }

Result<Capabilities> capabilities(std::string_view object) {
  auto hello = hello_with(format("\"capabilities\":{}", object));
  if (!hello) return Failure{hello.error()};
  return hello->capabilities;
}

TEST(Hello, ReadsFormOfPublishedClients) {
  const auto hello = *parse_hello(
      R"({"agent":"claude-1","capabilities":{"ack":true,"resume":true,"max_inflight":256,"supports_topics":true},)"
      R"("entityType":"user","cli":"claude","program":"claude","model":"opus","task":"build it",)"
      R"("workingDirectory":"/home/x","team":"core","displayName":"Claude","avatarUrl":"https://a/b.png",)"
      R"("session":{"resume_token":"t-1"},"_isSystemComponent":true})");
  EXPECT_EQ(hello.agent, "claude-1");
  EXPECT_TRUE(hello.capabilities.ack && hello.capabilities.resume && hello.capabilities.supports_topics);
  EXPECT_FALSE(hello.capabilities.send_ack || hello.capabilities.receipts);
  EXPECT_EQ(hello.capabilities.max_inflight, 256u);
  EXPECT_EQ(hello.entity, EntityType::User);
  EXPECT_TRUE(hello.system_component);
  EXPECT_EQ(hello.cli, "claude");
  EXPECT_EQ(hello.program, "claude");
  EXPECT_EQ(hello.model, "opus");
  EXPECT_EQ(hello.task, "build it");
  EXPECT_EQ(hello.working_directory, "/home/x");
  EXPECT_EQ(hello.team, "core");
  EXPECT_EQ(hello.display_name, "Claude");
  EXPECT_EQ(hello.avatar_url, "https://a/b.png");
  EXPECT_EQ(hello.resume_token, "t-1");
  EXPECT_EQ(hello.claim_token, "");
}

TEST(Hello, RequiresOnlyName) {
  const auto hello = *parse_hello(R"({"agent":"A"})");
  EXPECT_TRUE(hello.capabilities.ack);
  EXPECT_FALSE(hello.capabilities.resume);
  EXPECT_EQ(hello.capabilities.max_inflight, kDefaultInflight);
  EXPECT_EQ(hello.entity, EntityType::Agent);
  EXPECT_EQ(parse_hello("{}").error().message(), "the field \"agent\" is missing");
}

TEST(Hello, RefusesBadNamesWithReason) {
  EXPECT_EQ(parse_hello(R"({"agent":"a\u001b"})").error().message(),
            "this agent name contains a control character; leave it out");
  EXPECT_EQ(parse_hello(format(R"({{"agent":"{}"}})", std::string(10'000, 'x'))).error().message(),
            "this agent name is 10000 bytes long, the limit is 128; choose a shorter one");
  EXPECT_FALSE(parse_hello(R"({"agent":5})"));
  EXPECT_FALSE(parse_hello(R"({"agent":""})"));
  EXPECT_FALSE(parse_hello(R"({"agent":null})"));
}

TEST(Hello, ReadsThisProjectsCapabilities) {
  const auto own = *capabilities(R"({"ack":false,"send_ack":true,"receipts":true,"outbox":"e1","later":[]})");
  EXPECT_FALSE(own.ack);
  EXPECT_TRUE(own.send_ack && own.receipts);
  EXPECT_EQ(own.outbox, "e1");
  EXPECT_EQ(hello_with(R"("session":{"claim_token":"c-1"})")->claim_token, "c-1");
}

TEST(Hello, ClampsInflightWindow) {
  EXPECT_EQ(capabilities(R"({"max_inflight":0})")->max_inflight, 1u);
  EXPECT_EQ(capabilities(R"({"max_inflight":-5})")->max_inflight, 1u);
  EXPECT_EQ(capabilities(R"({"max_inflight":1e3})")->max_inflight, 1000u);
  EXPECT_EQ(capabilities(R"({"max_inflight":1e9})")->max_inflight, kMaxInflight);
  EXPECT_FALSE(capabilities(R"({"max_inflight":1.5})"));
  EXPECT_FALSE(capabilities(R"({"max_inflight":"many"})"));
}

TEST(Hello, RefusesFieldsOfTheWrongKind) {
  for (const auto* member : {R"("capabilities":[])", R"("capabilities":{"ack":"yes"})", R"("entityType":"robot")",
                             R"("cli":5)", R"("session":"t")", R"("session":{"resume_token":5})",
                             R"("_isSystemComponent":1)", R"("capabilities":{"outbox":"a\n"})"}) {
    const auto hello = hello_with(member);
    ASSERT_FALSE(hello) << member;
    EXPECT_TRUE(is(hello.error(), Errc::BadField)) << member;
  }
  EXPECT_FALSE(hello_with(format(R"("session":{{"resume_token":"{}"}})", std::string(kMaxTokenBytes + 1, 't'))));
  EXPECT_FALSE(hello_with(format(R"("capabilities":{{"outbox":"{}"}})", std::string(kMaxOutboxBytes + 1, 'e'))));
}

TEST(Hello, TreatsNullAsAbsent) {
  EXPECT_TRUE(hello_with(R"("capabilities":null,"cli":null,"session":null,"entityType":null)"));
}

TEST(Hello, TruncatesLongDescriptionsAndDropsLongAvatar) {
  const std::string task = format("{}é", std::string(kMaxTaskBytes - 1, 't'));
  const auto hello = *hello_with(format(R"("task":"{}","avatarUrl":"{}")", task, std::string(100'000, 'a')));
  EXPECT_EQ(hello.task, std::string(kMaxTaskBytes - 1, 't'));
  EXPECT_EQ(hello.avatar_url, "");
  const std::string label(kMaxLabelBytes + 1, 'm');
  const auto labelled = *hello_with(format(R"("cli":"{0}","model":"{0}","team":"{0}","displayName":"{0}")", label));
  for (const auto* text : {&labelled.cli, &labelled.model, &labelled.team, &labelled.display_name})
    EXPECT_EQ(text->size(), kMaxLabelBytes);
}

TEST(Welcome, RoundTrips) {
  const auto text = write_welcome({.session_id = "s-1", .resume_token = "t", .heartbeat_ms = 2000});
  EXPECT_EQ(text,
            R"({"session_id":"s-1","resume_token":"t","server":{"max_frame_bytes":1048576,"heartbeat_ms":2000}})");
  const auto welcome = *parse_welcome(text);
  EXPECT_EQ(welcome.session_id, "s-1");
  EXPECT_EQ(welcome.resume_token, "t");
  EXPECT_EQ(welcome.max_frame_bytes, kMaxFrameBytes);
  EXPECT_EQ(welcome.heartbeat_ms, 2000);
}

TEST(Welcome, RequiresOnlySession) {
  EXPECT_FALSE(parse_welcome("{}"));
  const auto welcome = *parse_welcome(R"({"session_id":"s","server":{"max_frame_bytes":9e9,"heartbeat_ms":0}})");
  EXPECT_EQ(welcome.max_frame_bytes, kMaxFrameBytes);
  EXPECT_EQ(welcome.heartbeat_ms, kHeartbeatMs);
  EXPECT_FALSE(parse_welcome(R"({"session_id":"s","server":{"heartbeat_ms":-1}})"));
  EXPECT_EQ(parse_welcome(R"({"session_id":"s","server":{"heartbeat_ms":9223372036854775807}})")->heartbeat_ms,
            3'600'000)
      << "no clock overflows";
}

TEST(Resume, ReadsPositionsByTopic) {
  const auto resume = *parse_resume(
      R"({"session_id":"s-1","agent":"A","streams":{"chat":{"last_seq":45},"":{"last_seq":1,"peer":"B"}}})");
  EXPECT_EQ(resume.session_id, "s-1");
  EXPECT_EQ(resume.agent, "A");
  ASSERT_EQ(resume.streams.size(), 2u);
  EXPECT_EQ(resume.streams[0].topic, "chat");
  EXPECT_EQ(resume.streams[0].peer, "");
  EXPECT_EQ(resume.streams[0].last_seq, 45u);
  EXPECT_EQ(resume.streams[1].peer, "B");
}

TEST(Resume, ReadsPositionsAsAnArray) {
  const auto resume = *parse_resume(
      R"({"session_id":"s","agent":"A","resume_token":"t","streams":[{"topic":"a\"b","peer":"B","last_seq":2}]})");
  ASSERT_EQ(resume.streams.size(), 1u);
  EXPECT_EQ(resume.streams[0].topic, "a\"b");
  EXPECT_EQ(resume.streams[0].last_seq, 2u);
  EXPECT_EQ(resume.resume_token, "t");
}

TEST(Resume, RefusesInvalidPositions) {
  EXPECT_TRUE(parse_resume(R"({"session_id":"s","agent":"A"})"));
  for (const auto* bad :
       {R"({"agent":"A"})", R"({"session_id":"s"})", R"({"session_id":"s","agent":"a b"})",
        R"({"session_id":"s","agent":"A","streams":5})", R"({"session_id":"s","agent":"A","streams":{"x":5}})",
        R"({"session_id":"s","agent":"A","streams":{"x":{"last_seq":-1}}})",
        R"({"session_id":"s","agent":"A","streams":[{"last_seq":"x"}]})"}) {
    EXPECT_FALSE(parse_resume(bad)) << bad;
  }
}

TEST(Resume, EnforcesLimitOfStreams) {
  std::string streams;
  for (std::size_t i = 0; i < kMaxStreamsInResume; ++i) streams += format(R"({{"topic":"{}","last_seq":1}},)", i);
  const auto resume = [&](std::string_view more) {
    return parse_resume(format(R"({{"session_id":"s","agent":"A","streams":[{}{}]}})", streams, more));
  };
  EXPECT_FALSE(resume(R"({"topic":"x","last_seq":1})"));
  streams.pop_back();
  EXPECT_EQ(resume("")->streams.size(), kMaxStreamsInResume);
}

TEST(Sync, MatchesSpecification) {
  EXPECT_EQ(write_sync("s-1", {{"chat", "codex-1", 45, 49}}),
            R"({"session_id":"s-1","streams":[{"topic":"chat","peer":"codex-1","last_seq":45,"server_last_seq":49}]})");
  EXPECT_EQ(write_sync("s-1", {}), R"({"session_id":"s-1","streams":[]})");
}

}  // namespace
}  // namespace relay::protocol
