#include "client/outbox_format.h"

namespace relay::client {
namespace {

constexpr std::string_view kEpoch = "0123456789abcdef";

OutboxEntry entry(std::uint64_t number, std::string payload = R"({"body":"hello"})") {
  return {
      .number = number, .id = outbox_id(kEpoch, number), .message = {"Bob", std::move(payload), "chat"}, .lost = false};
}

std::string file_of(std::uint64_t from, std::uint64_t to) {
  std::string file;
  append_first_record(file, kEpoch, from);
  for (auto n = from; n <= to; ++n) append_message_record(file, kEpoch, entry(n));
  return file;
}

std::vector<std::uint64_t> numbers(const OutboxImage& image) {
  std::vector<std::uint64_t> all;
  for (const auto& one : image.unanswered) all.push_back(one.number);
  return all;
}

TEST(OutboxFormat, ReadsBackWhatWasWritten) {
  auto file = file_of(3, 4);
  auto channel = entry(5, "{\"body\":\"two\\nlines\",\n \"data\":{}}");
  channel.message.type = protocol::MessageType::ChannelMessage;
  channel.message.payload_meta = R"({"ttl_ms":5})";
  append_message_record(file, kEpoch, channel);
  append_answer_record(file, 3);
  const auto image = parse_outbox(file);
  EXPECT_EQ(image.epoch, kEpoch);
  EXPECT_EQ(image.next, 6U);
  EXPECT_EQ(numbers(image), (std::vector<std::uint64_t>{4, 5}));
  EXPECT_EQ(image.unanswered[1].message.payload, channel.message.payload);
  EXPECT_EQ(image.unanswered[1].message.payload_meta, channel.message.payload_meta);
  EXPECT_EQ(image.unanswered[1].message.type, protocol::MessageType::ChannelMessage);
  EXPECT_EQ(image.unanswered[0].id, "0123456789abcdef-4");
  EXPECT_EQ(image.torn_bytes + image.damaged_bytes, 0U);
}

TEST(OutboxFormat, TornTailLosesOnlyTheCutRecord) {
  const auto whole = file_of(1, 2);
  const auto file = file_of(1, 3);
  for (auto cut = whole.size(); cut < file.size(); ++cut) {
    const auto image = parse_outbox(std::string_view{file}.substr(0, cut));
    EXPECT_EQ(numbers(image), (std::vector<std::uint64_t>{1, 2})) << cut;
    EXPECT_EQ(image.next, 3U) << cut;
    EXPECT_EQ(image.torn_bytes, cut - whole.size());
    EXPECT_EQ(image.damaged_bytes, 0U);
  }
}

TEST(OutboxFormat, DamagedRecordLosesItsTextAndKeepsItsNumber) {
  const auto before = file_of(1, 1).size();
  auto file = file_of(1, 3);
  file[before + 40] ^= 1;
  const auto image = parse_outbox(file);
  ASSERT_EQ(numbers(image), (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_FALSE(image.unanswered[0].lost);
  EXPECT_TRUE(image.unanswered[1].lost);
  EXPECT_FALSE(image.unanswered[2].lost);
  EXPECT_EQ(image.damaged_bytes, file_of(1, 2).size() - before);
}

TEST(OutboxFormat, NumbersInsideDamageAreNeverReused) {
  const auto before = file_of(1, 1).size();
  auto file = file_of(1, 2);
  append_answer_record(file, 1);
  file[before + 30] ^= 1;  // message 2, with an answer behind it
  const auto image = parse_outbox(file);
  EXPECT_GE(image.next, 3U);
  ASSERT_FALSE(image.unanswered.empty());
  EXPECT_EQ(image.unanswered.front().number, 2U);
  EXPECT_TRUE(image.unanswered.front().lost);
}

TEST(OutboxFormat, EpochSurvivesADamagedFirstRecord) {
  auto file = file_of(7, 9);
  file[20] ^= 1;
  const auto image = parse_outbox(file);
  EXPECT_EQ(image.epoch, kEpoch);
  EXPECT_EQ(image.next, 10U);
  EXPECT_EQ(image.unanswered.back().number, 9U);
  EXPECT_EQ(image.unanswered.back().message.to, "Bob");
}

TEST(OutboxFormat, ForeignBytesAreNoOutbox) {
  for (const auto& text : {std::string{}, std::string{"hello"}, std::string(5'000, '\n'), std::string(5'000, '\0')}) {
    const auto image = parse_outbox(text);
    EXPECT_TRUE(image.epoch.empty());
    EXPECT_TRUE(image.unanswered.empty());
    EXPECT_EQ(image.torn_bytes + image.damaged_bytes, text.size());
  }
}

TEST(OutboxFormat, FlippedBitNeverReusesASentNumber) {
  auto file = file_of(1, 4);
  append_answer_record(file, 1);
  append_answer_record(file, 2);
  const auto last_message_ends = file_of(1, 4).size();
  for (std::size_t at = 0; at < last_message_ends; ++at) {
    auto damaged = file;
    damaged[at] ^= 4;
    const auto image = parse_outbox(damaged);
    EXPECT_GE(image.next, 5U) << at;
    for (const auto& one : image.unanswered) {
      if (!one.lost) { EXPECT_EQ(one.message.payload, entry(1).message.payload) << at; }
    }
  }
}

}  // namespace
}  // namespace relay::client
