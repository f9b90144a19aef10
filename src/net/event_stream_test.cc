#include "net/event_stream.h"

#include <gtest/gtest.h>

namespace relay::net {
namespace {

std::string format_events(const std::vector<ServerEvent>& events) {
  std::string all;
  for (const auto& event : events) all += "<" + event.type + "|" + event.data + ">";
  return all;
}

TEST(EventStream, EndsAnEventAtTheEmptyLine) {
  EventStream stream;
  EXPECT_EQ(
      format_events(stream.feed("event: tick\ndata: one\ndata:two\n\n: a comment\n\ndata\n\nid: 7\nretry: 3\n\n")),
      "<tick|one\ntwo><|>");
}

TEST(EventStream, ReadsTheSameEventsForAnySplit) {
  const std::string_view wire =
      "\xEF\xBB\xBF"
      "data: {\"a\":1}\r\n\r\nevent: x\rdata: one\r\rdata: y\ndata:\n\n\n";
  const std::string expected = "<|{\"a\":1}><x|one><|y\n>";
  for (std::size_t cut = 0; cut <= wire.size(); ++cut) {
    EventStream stream;
    auto events = format_events(stream.feed(wire.substr(0, cut)));
    events += format_events(stream.feed(wire.substr(cut)));
    EXPECT_EQ(events, expected) << "cut at byte " << cut;
  }
}

TEST(EventStream, IgnoresAPartialEventAtTheEnd) {
  EventStream stream;
  EXPECT_EQ(format_events(stream.feed("data: whole\n\ndata: half\n")), "<|whole>");
}

TEST(EventStream, SkipsAnOversizedEvent) {
  EventStream stream{16};
  EXPECT_EQ(format_events(stream.feed("data: 0123456789")), "");
  EXPECT_EQ(format_events(stream.feed(std::string(1000, 'x') + "\ndata: more\nevent: lost\n\ndata: small\n\n")),
            "<|small>");
  EXPECT_EQ(stream.skipped(), 1U);
  EXPECT_EQ(format_events(stream.feed("data: 12345\ndata: 12345\ndata: 12345\n\ndata: ok\n\n")), "<|ok>");
  EXPECT_EQ(stream.skipped(), 2U);
}

}  // namespace
}  // namespace relay::net
