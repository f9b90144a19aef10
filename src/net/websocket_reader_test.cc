#include "net/websocket_reader.h"

#include <gtest/gtest.h>

#include "base/format.h"

namespace relay::net {
namespace {

constexpr std::size_t kLimit = 70'000;

/// A frame as clients send it.
std::string masked(unsigned first, std::string_view payload, std::string_view mask = "\x01\x02\x03\x04") {
  auto frame = std::string{frame_head(Opcode::Text, payload.size()).view()};
  frame[0] = static_cast<char>(first);
  frame[1] = static_cast<char>(static_cast<unsigned char>(frame[1]) | 0x80U);
  frame += mask;
  for (std::size_t i = 0; i < payload.size(); ++i) frame.push_back(static_cast<char>(payload[i] ^ mask[i % 4]));
  return frame;
}

std::string messages_in(std::string_view first, std::string_view second = {}) {
  WebSocketReader reader{kLimit};
  std::string found;
  for (const auto part : {first, second}) {
    reader.add(part);
    while (true) {
      const auto next = reader.next();
      if (!next) return found + format("! {}", next.error().code().value());
      if (!*next) break;
      found += format("{}:{}:{} ", static_cast<int>((*next)->kind), (*next)->close_code, (*next)->payload);
    }
  }
  return found;
}

TEST(WebSocketReader, ReadsTheSameMessagesForAnySplit) {
  const auto wire = masked(0x81, "hello") + masked(0x01, "one ") + masked(0x89, "ping") + masked(0x00, "") +
                    masked(0x80, "two") + masked(0x8A, "") + masked(0x81, std::string(300, 'x')) +
                    masked(0x88, std::string{"\x03\xe8", 2} + "bye");
  const auto expected = "1:0:hello 9:0:ping 1:0:one two 10:0: 1:0:" + std::string(300, 'x') + " 8:1000:bye ";
  for (std::size_t cut = 0; cut <= wire.size(); ++cut)
    ASSERT_EQ(messages_in(std::string_view{wire}.substr(0, cut), std::string_view{wire}.substr(cut)), expected)
        << "cut at byte " << cut;
}

TEST(WebSocketReader, ReadsAllLengthEncodings) {
  for (const std::size_t size : {0U, 1U, 125U, 126U, 127U, 65'535U, 65'536U, 70'000U})
    EXPECT_EQ(messages_in(masked(0x81, std::string(size, 'a'))), "1:0:" + std::string(size, 'a') + " ") << size;
}

TEST(WebSocketReader, RefusesInvalidFrames) {
  EXPECT_EQ(messages_in(std::string{"\x81\x01x", 3}), "! 1002") << "not masked";
  EXPECT_EQ(messages_in(masked(0xC1, "x")), "! 1002") << "an extension";
  EXPECT_EQ(messages_in(masked(0x83, "x")), "! 1002") << "an unknown opcode";
  EXPECT_EQ(messages_in(masked(0x80, "x")), "! 1002") << "a continuation without a message";
  EXPECT_EQ(messages_in(masked(0x01, "x") + masked(0x81, "y")), "! 1002") << "a message within a message";
  EXPECT_EQ(messages_in(masked(0x09, "x")), "! 1002") << "a ping in fragments";
  EXPECT_EQ(messages_in(masked(0x89, std::string(126, 'x'))), "! 1002") << "a large ping";
  EXPECT_EQ(messages_in(masked(0x88, "x")), "! 1002") << "half a code";
  EXPECT_EQ(messages_in(masked(0x88, std::string{"\x03\xed", 2})), "! 1002") << "1005 is never sent";
  EXPECT_EQ(messages_in(std::string{"\x81\xFE\x00\x05", 4} + std::string(9, '\0')), "! 1002") << "a long short length";
  EXPECT_EQ(messages_in(masked(0x82, "x")), "! 1003");
  EXPECT_EQ(messages_in(masked(0x81, "\xff")), "! 1007");
  EXPECT_EQ(messages_in(masked(0x01, "\xc3") + masked(0x80, "\xa9")), "1:0:\xc3\xa9 ") << "split inside a character";
  EXPECT_EQ(messages_in(masked(0x81, std::string(kLimit + 1, 'x')).substr(0, 14)), "! 1009") << "before it is complete";
  EXPECT_EQ(messages_in(masked(0x01, std::string(kLimit, 'x')) + masked(0x80, "y")), "! 1009");
}

TEST(WebSocketReader, BoundsFragments) {
  std::string wire = masked(0x01, "");
  for (std::size_t i = 0; i < WebSocketReader::kMaxFragments; ++i) wire += masked(0x00, "");
  EXPECT_EQ(messages_in(wire), "! 1008");
}

TEST(WebSocketFrames, MatchTheExamplesOfTheRfc) {
  EXPECT_EQ(frame_head(Opcode::Text, 5).view(), "\x81\x05");
  EXPECT_EQ(frame_head(Opcode::Binary, 256).view(), (std::string_view{"\x82\x7E\x01\x00", 4}));
  EXPECT_EQ(frame_head(Opcode::Binary, 65'536).view(), (std::string_view{"\x82\x7F\0\0\0\0\0\x01\0\0", 10}));
  EXPECT_EQ(close_frame(1001, "bye"), (std::string{"\x88\x05\x03\xe9", 4} + "bye"));
  const auto largest = close_frame(1000, std::string(122, 'x') + "é and more");
  EXPECT_EQ(largest.size(), 2u + 2u + 122u) << "no character is split";
  EXPECT_EQ(accept_key("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

}  // namespace
}  // namespace relay::net
