#include "protocol/frame.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "protocol/errors.h"

namespace relay::protocol {
namespace {

using Bodies = std::vector<std::string>;

std::string wire_of(HeaderStyle style, const Bodies& bodies) {
  std::string wire;
  for (const auto& body : bodies) append_frame(wire, style, body);
  return wire;
}

/// All frames the reader returns now; the test fails on an error.
Bodies drain(FrameReader& reader) {
  Bodies bodies;
  while (true) {
    const auto frame = reader.next();
    EXPECT_TRUE(frame.has_value()) << frame.error().message();
    if (!frame || !*frame) return bodies;
    bodies.emplace_back(**frame);
  }
}

Error error_of(std::string_view wire, FrameReader reader = FrameReader{}) {
  reader.push(wire);
  while (true) {
    const auto frame = reader.next();
    if (!frame) return frame.error();
    if (!*frame) return Error{{}, "no error"};
  }
}

const Bodies kConversation = {R"({"v":1})", R"({"type":"HELLO","id":"x"})", std::string(300, ' ') + "{}",
                              R"({"a":{}})"};

class EitherHeader : public testing::TestWithParam<HeaderStyle> {};
INSTANTIATE_TEST_SUITE_P(Frame, EitherHeader, testing::Values(HeaderStyle::Four, HeaderStyle::Five));

TEST_P(EitherHeader, ReadsSameFramesForAnySplit) {
  const std::string wire = wire_of(GetParam(), kConversation);
  for (std::size_t cut = 0; cut <= wire.size(); ++cut) {
    FrameReader reader;
    reader.push(std::string_view{wire}.substr(0, cut));
    Bodies bodies = drain(reader);
    reader.push(std::string_view{wire}.substr(cut));
    for (auto& body : drain(reader)) bodies.push_back(body);
    EXPECT_EQ(bodies, kConversation) << "cut at byte " << cut;
    EXPECT_EQ(reader.style(), GetParam());
    EXPECT_EQ(reader.bytes_held(), 0u);
  }
}

TEST_P(EitherHeader, ReadsFramesByteByByte) {
  FrameReader reader;
  Bodies bodies;
  for (const char byte : wire_of(GetParam(), kConversation)) {
    reader.push({&byte, 1});
    for (auto& body : drain(reader)) bodies.push_back(body);
  }
  EXPECT_EQ(bodies, kConversation);
}

TEST_P(EitherHeader, DetectsHeaderStyleForAnyLength) {
  // 0x7B is '{': the last length byte of a five-byte header is then where the object after a four-byte header starts.
  for (const std::size_t length : {2u, 0x7Bu, 0x100u, 0x7B00u, 0x7B7Bu, 0xFFFFu, 0x10000u, 0x7B7B7u}) {
    const Bodies bodies = {"{" + std::string(length - 2, ' ') + "}"};
    FrameReader reader;
    reader.push(wire_of(GetParam(), bodies));
    EXPECT_EQ(drain(reader), bodies) << length;
    EXPECT_EQ(reader.style(), GetParam()) << length;
  }
}

TEST_P(EitherHeader, AcceptsFrameOfExactlyTheLimit) {
  const Bodies largest = {"{" + std::string(kMaxFrameBytes - 2, ' ') + "}"};
  FrameReader reader;
  reader.push(wire_of(GetParam(), largest));
  EXPECT_EQ(drain(reader), largest);

  std::string wire = wire_of(GetParam(), {"{}"});
  wire += GetParam() == HeaderStyle::Five ? std::string("\0\0\x10\0\1", 5) : std::string("\0\x10\0\1", 4);
  EXPECT_TRUE(is(error_of(wire), Errc::FrameTooLarge));
}

TEST(Frame, WaitsForDecidingBytes) {
  FrameReader reader;
  reader.push(std::string_view("\0\0\0\2{", 5));
  EXPECT_EQ(reader.next()->has_value(), false);
  EXPECT_EQ(reader.style(), HeaderStyle::Undecided);
  reader.push("}");
  EXPECT_EQ(**reader.next(), "{}");
  EXPECT_EQ(reader.style(), HeaderStyle::Four);
}

TEST(Frame, LeavesOtherJsonToEnvelope) {
  FrameReader reader;
  reader.push(std::string_view("\0\0\0\2[]", 6));
  EXPECT_EQ(**reader.next(), "[]");
}

TEST(Frame, RefusesOversizeFrameAtHeader) {
  const auto error = error_of(std::string_view("\0\x20\0\0", 4));
  EXPECT_TRUE(is(error, Errc::FrameTooLarge));
  EXPECT_EQ(error.message(), "this frame claims 2097152 bytes, the limit is 1048576; send less at once");
}

TEST(Frame, RefusesOtherBytes) {
  EXPECT_TRUE(is(error_of("GET / HTTP/1.1\r\n"), Errc::FrameTooLarge));
  EXPECT_TRUE(is(error_of(std::string_view("\0\0\0\0\0\0", 6)), Errc::BadFrame));
}

TEST(Frame, RefusesMessagePackAtOnceAndLater) {
  EXPECT_TRUE(is(error_of("\x01"), Errc::MessagePack));
  EXPECT_TRUE(is(error_of(wire_of(HeaderStyle::Five, {"{}"}) + "\x01"), Errc::MessagePack));
  EXPECT_TRUE(is(error_of(wire_of(HeaderStyle::Five, {"{}"}) + "\x07"), Errc::BadFrame));
}

TEST(Frame, ReturnsWholeFramesBeforeError) {
  FrameReader reader;
  reader.push(wire_of(HeaderStyle::Four, {"{}"}) + std::string("\xFF\0\0\0", 4));
  EXPECT_EQ(**reader.next(), "{}");
  EXPECT_FALSE(reader.next().has_value());
}

TEST(Frame, RepeatsErrorAndIgnoresLaterBytes) {
  FrameReader reader;
  reader.push("\x01");
  EXPECT_FALSE(reader.next().has_value());
  reader.push(std::string(100'000, 'x'));
  EXPECT_FALSE(reader.next().has_value());
  EXPECT_EQ(reader.bytes_held(), 1u);
}

TEST(Frame, EnforcesSmallerLimit) {
  EXPECT_TRUE(is(error_of(wire_of(HeaderStyle::Four, {std::string(11, ' ')}), FrameReader{10}), Errc::FrameTooLarge));
}

}  // namespace
}  // namespace relay::protocol
