#include "records/change_codec.h"

#include <gtest/gtest.h>

#include "base/hash.h"

namespace relay::records {
namespace {

/// One change of each kind, with no field at its default.
Changes every_change() {
  const protocol::Lane lane{protocol::DeliveryMode::Manual, protocol::Priority::Urgent};
  Message message{.key = Key{-7},
                  .id = "id",
                  .ts = 1'700'000'000'000,
                  .from = AgentName{"Alice"},
                  .to = "Bob",
                  .topic = Topic{"topic"},
                  .kind = "kind",
                  .thread = "thread",
                  .payload = std::string("{\"a\":\0}", 7),
                  .payload_meta = "{}",
                  .session = SessionId{"session"}};
  Delivery delivery{.key = Key{INT64_MAX},
                    .message = Key{INT64_MIN},
                    .from = AgentName{"Alice"},
                    .to = AgentName{"Bob"},
                    .lane = lane,
                    .rank = Key{9},
                    .seq = Seq{UINT64_MAX},
                    .frame_kind = FrameKind::ShadowTrigger,
                    .shadow_of = "Primary",
                    .state = DeliveryState::Dead,
                    .proof = Proof::Seen,
                    .expires_at = 5,
                    .queued_offline = true,
                    .hold = Hold::Policy,
                    .available_at = 6,
                    .attempts = UINT32_MAX};
  Agent agent{.name = AgentName{"Alice"},
              .entity = protocol::EntityType::User,
              .cli = "cli",
              .program = "program",
              .model = "model",
              .task = "task",
              .working_directory = "/tmp",
              .team = "team",
              .display_name = "A",
              .avatar_url = "u",
              .claim_hash = "c",
              .first_seen = 1,
              .last_seen = 2,
              .paused = true,
              .pause_reason = "p",
              .policy = {{"*", protocol::DeliveryPolicyAction::Refuse}}};
  protocol::Capabilities capabilities;
  capabilities.ack = false;
  capabilities.resume = capabilities.send_ack = capabilities.receipts = capabilities.receipt_steps = true;
  capabilities.max_inflight = 77;
  capabilities.outbox = "epoch";
  capabilities.modes = protocol::DeliveryModes::all();
  capabilities.queue = capabilities.pause = true;
  capabilities.contract = "{}";
  Session session{.id = SessionId{"s"},
                  .agent = AgentName{"Alice"},
                  .token_hash = "t",
                  .capabilities = capabilities,
                  .started = 1,
                  .last_seen = 2,
                  .ended = 3,
                  .topics = {"a", ""},
                  .shadows = {{AgentName{"P"}, {"x", "y"}, false, true}}};
  return {AddMessage{message},
          AddDelivery{delivery, "reason", 3},
          ChangeDelivery{.key = Key{1},
                         .state = DeliveryState::InDoubt,
                         .proof = Proof::Written,
                         .at = 4,
                         .reason = "r",
                         .via = "w",
                         .evidence = "e",
                         .hold = Hold::Time,
                         .available_at = 8,
                         .attempts = 3,
                         .metadata = "{}",
                         .session = SessionId{"s"}},
          RequeueDelivery{Key{1}, lane, Key{2}, Seq{3}, 4, "again"},
          SetStream{{Topic{"t"}, AgentName{"A"}, AgentName{"B"}, lane, Seq{1}, Seq{2}}},
          PutAgent{agent},
          RemoveAgent{AgentName{"A"}, true, 9},
          PutSession{session},
          JoinChannel{{"#c", AgentName{"A"}}},
          LeaveChannel{{"#c", AgentName{"A"}}},
          SetOutboxMark{{AgentName{"A"}, "epoch", 9, {1, 2, UINT64_MAX}, 5}},
          PutProposal{{.id = "p",
                       .title = "t",
                       .description = "d",
                       .type = "y",
                       .proposer = AgentName{"A"},
                       .participants = {AgentName{"B"}},
                       .votes = {{AgentName{"B"}, "approve", "why"}},
                       .thread = "h",
                       .created = 1,
                       .expires_at = 2,
                       .quorum = 3,
                       .threshold = 0.5,
                       .outcome = "o"}},
          AddEvent{{"type", 1, AgentName{"A"}, SessionId{"s"}, "{}"}},
          PutUsage{{SessionId{"s"}, "r", AgentName{"A"}, "m", "t", "s", 1, 2, 3, 4, 5, 6, -1.25}},
          AddSessionStats{SessionId{"s"}, {1, 2, {"f"}}, 3},
          ForgetStream{{Topic{"t"}, AgentName{"A"}, AgentName{"B"}, lane, Seq{1}, Seq{2}}},
          AddSubscription{SessionId{"s"}, "t"},
          RemoveSubscription{SessionId{"s"}, "t"}};
}

std::string encoded(const Changes& changes) {
  std::string bytes;
  encode(changes, bytes);
  return bytes;
}

TEST(ChangeCodec, EveryChangeRoundTrips) {
  const auto changes = every_change();
  ASSERT_EQ(changes.size(), std::variant_size_v<Change>);
  const auto bytes = encoded(changes) + encoded({JoinChannel{{"#x", AgentName{"Y"}}}});
  std::string_view left = bytes;
  const auto first = decode_changes(left);
  ASSERT_TRUE(first) << first.error().message();
  EXPECT_EQ(encoded(*first), encoded(changes));
  const auto& delivery = std::get<AddDelivery>(first->at(1)).delivery;
  EXPECT_EQ(delivery.attempts, UINT32_MAX);
  EXPECT_EQ(delivery.lane.priority, protocol::Priority::Urgent);
  EXPECT_EQ(std::get<AddMessage>(first->at(0)).message.payload.size(), 7u);
  EXPECT_EQ(std::get<PutUsage>(first->at(13)).usage.cost, -1.25);
  EXPECT_TRUE(std::get<PutSession>(first->at(7)).session.capabilities.modes->has(protocol::DeliveryMode::Manual));
  const auto second = decode_changes(left);
  ASSERT_TRUE(second);
  EXPECT_EQ(std::get<JoinChannel>(second->at(0)).membership.channel, "#x");
  EXPECT_TRUE(left.empty());
}

// Journals outlive the program that wrote them. If this fails, a record changed: raise kChangeFormat and keep reading
// what the older formats wrote.
TEST(ChangeCodec, BytesOfFormatOneNeverChange) {
  constexpr std::size_t kOfFormatOne = 15;
  auto changes = every_change();
  changes.resize(kOfFormatOne);
  EXPECT_EQ(sha256_hex(encoded(changes)), "bde3e8ab78e68a3550de0d07d706e1511c2e3ce387beab548f54197df6da41d1");
}

// Format two only appends changes to those of format one.
TEST(ChangeCodec, BytesOfFormatTwoNeverChange) {
  ASSERT_EQ(kChangeFormat, 2);
  EXPECT_EQ(sha256_hex(encoded(every_change())), "3dd9c7e61dc485253cdcd4093816449446e3ac37a879f80637db6192181f8fc0");
}

TEST(ChangeCodec, TruncatedOrForeignBytesAreRefused) {
  const auto bytes = encoded(every_change());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    std::string_view left = std::string_view{bytes}.substr(0, size);
    EXPECT_FALSE(decode_changes(left)) << size;
  }
  for (const std::string& foreign :
       {std::string("\x01\x7f", 2), std::string("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"),
        std::string("\x01\x02\x02\x09\x00", 5)}) {
    std::string_view left = foreign;
    EXPECT_FALSE(decode_changes(left));
  }
}

}  // namespace
}  // namespace relay::records
