#include "tmux/control_parser.h"

#include <gtest/gtest.h>

#include "base/format.h"

namespace relay::tmux {
namespace {

/// The calls, one line of text each.
struct Record final : ControlHandler {
  void on_pane_output(const PaneOutput& output) override {
    calls.push_back(format("output {}: {}", output.pane, output.bytes));
    ages.push_back(output.age);
  }
  void on_reply(const CommandResult& answer) override {
    calls.push_back(format("reply {} {} {}: {}", answer.number, answer.requested ? "requested" : "unrequested",
                           answer.ok ? "ok" : "error", answer.text));
  }
  void on_notice(std::string_view name, std::string_view rest) override {
    calls.push_back(format("notice {}: {}", name, rest));
  }
  void on_skipped_line() override { calls.emplace_back("skipped"); }
  std::vector<std::string> calls;
  std::vector<Millis> ages;
};

std::vector<std::string> calls_of(std::initializer_list<std::string_view> parts) {
  ControlParser parser;
  Record record;
  for (const auto part : parts) parser.feed(part, record);
  return record.calls;
}

using Calls = std::vector<std::string>;

TEST(ControlParser, DecodesOutput) {
  EXPECT_EQ(calls_of({"%output %3 a\\015\\012\\134b\n"}), (Calls{"output 3: a\r\n\\b"}));
  EXPECT_EQ(calls_of({"%output %3 \\033[1m\xc3\xa9 : x\n"}), (Calls{"output 3: \x1b[1m\xc3\xa9 : x"}));
  EXPECT_EQ(calls_of({"%extended-output %12 250 : a : b\n"}), (Calls{"output 12: a : b"}));
  EXPECT_EQ(calls_of({"%extended-output %12 250 later words : a\n"}), (Calls{"output 12: a"}));
}

TEST(ControlParser, ParsesTheAgeOfOutput) {
  ControlParser parser;
  Record record;
  parser.feed("%output %0 a\n%extended-output %0 250 : b\n%extended-output %0 x : c\n", record);
  EXPECT_EQ(record.ages, (std::vector{Millis{0}, Millis{250}, Millis{0}}));
}

TEST(ControlParser, DecodesEveryByte) {
  std::string line{"%output %0 "}, bytes;
  for (int value = 0; value < 256; ++value) {
    bytes.push_back(static_cast<char>(value));
    line += value < 32 || value == '\\' ? format("\\{:03o}", value) : std::string(1, static_cast<char>(value));
  }
  EXPECT_EQ(calls_of({line, "\n"}), (Calls{"output 0: " + bytes}));
}

TEST(ControlParser, KeepsInvalidEscapes) {
  EXPECT_EQ(calls_of({"%output %0 \\\\012 \\9 \\400 \\01\n"}), (Calls{"output 0: \\\n \\9 \\400 \\01"}));
}

TEST(ControlParser, CollectsReplies) {
  EXPECT_EQ(calls_of({"%begin 17 266 1\n\n90 20\n%end 17 266 1\n%begin 17 267 1\nbad\n%error 17 267 1\n"}),
            (Calls{"reply 266 requested ok: \n90 20\n", "reply 267 requested error: bad\n"}));
  EXPECT_EQ(calls_of({"%begin 17 5 0\n%end 17 5 0\n"}), (Calls{"reply 5 unrequested ok: "}));
}

TEST(ControlParser, TreatsLinesInsideAReplyAsText) {
  EXPECT_EQ(calls_of({"%begin 17 266 1\n%output %1 x\n%end 17 9 1\n%end\n%exit\n%end 17 266 1\n"}),
            (Calls{"reply 266 requested ok: %output %1 x\n%end 17 9 1\n%end\n%exit\n"}));
}

TEST(ControlParser, PassesOnNotices) {
  EXPECT_EQ(calls_of({"%exit\n%exit too far behind\n%pause %3\n%layout-change @0 b25d,80x24,0,0,0 x *\n"}),
            (Calls{"notice exit: ", "notice exit: too far behind", "notice pause: %3",
                   "notice layout-change: @0 b25d,80x24,0,0,0 x *"}));
  EXPECT_EQ(calls_of({"no server running\n"}), (Calls{"notice : no server running"}));
}

TEST(ControlParser, AcceptsMalformedLines) {
  EXPECT_EQ(calls_of({"%\n\n%begin x\n%begin\n%output\n%output 3 x\n%output %99999999999 x\n%extended-output %1 x\n"}),
            (Calls{"notice : ", "notice : ", "notice begin: x", "notice begin: ", "notice output: ", "notice output: x",
                   "notice output: x", "notice extended-output: x"}));
}

TEST(ControlParser, ReadsTheSameForAnySplit) {
  const std::string_view stream =
      "%begin 17 1 0\n%0 5\n%end 17 1 0\n%session-changed $0 x\n%output %0 a\\033b\\134\n%extended-output %0 3 : z\n"
      "%begin 17 2 1\n%error 17 2 1\n%continue %0\n%window-close @1\n";
  const auto whole = calls_of({stream});
  EXPECT_EQ(whole.size(), 7U);
  for (std::size_t cut = 0; cut <= stream.size(); ++cut)
    EXPECT_EQ(calls_of({stream.substr(0, cut), stream.substr(cut)}), whole) << "cut at byte " << cut;
}

TEST(ControlParser, SkipsAnEndlessLine) {
  ControlParser parser;
  Record record;
  const std::string block(100'000, 'x');
  parser.feed("%output %0 ", record);
  for (int i = 0; i < 100; ++i) parser.feed(block, record);
  EXPECT_EQ(record.calls, (Calls{"skipped"})) << "reported once and immediately";
  parser.feed("\n%pause %0\n", record);
  EXPECT_EQ(record.calls, (Calls{"skipped", "notice pause: %0"}));
}

TEST(ControlParser, SkipsALongLineOfAReplySilently) {
  ControlParser parser;
  Record record;
  parser.feed("%begin 1 1 1\na\n", record);
  const std::string line(kMaxLineBytes + 1, 'x');
  parser.feed(line, record);
  parser.feed("\nb\n%end 1 1 1\n", record);
  EXPECT_EQ(record.calls, (Calls{"reply 1 requested ok: a\nb\n"}));
}

TEST(ControlParser, BoundsAReply) {
  ControlParser parser;
  Record record;
  std::string line(100'000, 'x');
  line.push_back('\n');
  parser.feed("%begin 1 1 1\n", record);
  for (int i = 0; i < 100; ++i) parser.feed(line, record);
  parser.feed("%end 1 1 1\n", record);
  ASSERT_EQ(record.calls.size(), 1U);
  EXPECT_LE(record.calls.front().size(), kMaxReplyBytes + 100);
}

}  // namespace
}  // namespace relay::tmux
