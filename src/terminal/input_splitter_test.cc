#include "terminal/input_splitter.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "terminal/limits.h"

namespace relay::terminal {
namespace {

constexpr SteadyTime at(int milliseconds) { return SteadyTime{Millis{milliseconds}}; }

std::vector<InputEvent> split(std::string_view bytes) {
  InputSplitter splitter;
  return splitter.feed(bytes, at(0));
}

InputKind only_kind(std::string_view bytes) {
  const auto events = split(bytes);
  EXPECT_EQ(events.size(), 1u) << bytes;
  return events.empty() ? InputKind::Text : events.front().kind;
}

std::string text_of(std::string_view bytes) {
  const auto events = split(bytes);
  return events.empty() ? "" : events.front().text;
}

TEST(Input, TypedTextEnterAndKeys) {
  const auto events = split("héllo\r\x03\x1b[A\x1bOB\x1bx\x7f");
  std::vector<InputKind> kinds;
  for (const auto& event : events) kinds.push_back(event.kind);
  using enum InputKind;
  EXPECT_EQ(kinds, (std::vector<InputKind>{Text, Enter, Key, Key, Key, Key, Key}));
  EXPECT_EQ(events[0].text, "héllo");
}

TEST(Input, RepliesAreNotTyping) {
  for (const std::string_view reply :
       {"\x1b[?62;22c", "\x1b[>1;10;0c", "\x1b[12;40R", "\x1b[?12;40R", "\x1b[?2026;2$y", "\x1b[0n", "\x1b[?997;1n",
        "\x1b[?5u", "\x1b[8;40;120t", "\x1b[6;20;10t", "\x1b[48;40;120;800;1200t", "\x1bP>|xterm(390)\x1b\\",
        "\x1bP1+r544e=78\x1b\\", "\x1b]11;rgb:0000/0000/0000\x1b\\", "\x1b]4;1;rgb:ff/0/0\a", "\x1b]7501;?\x1b\\",
        "\x1b_Gi=1;OK\x1b\\", "\x1b[>4;2m", "\x1b]52;c;aGVsbG8=\a"}) {
    EXPECT_EQ(only_kind(reply), InputKind::Reply) << reply;
    EXPECT_FALSE(is_typing(only_kind(reply)));
  }
}

TEST(Input, MouseAndFocusAreNotTyping) {
  EXPECT_EQ(only_kind("\x1b[<0;10;20M"), InputKind::Mouse);
  EXPECT_EQ(only_kind("\x1b[<0;10;20m"), InputKind::Mouse);
  EXPECT_EQ(only_kind("\x1b[M !!"), InputKind::Mouse);
  EXPECT_EQ(only_kind("\x1b[32;10;20M"), InputKind::Mouse);
  EXPECT_EQ(only_kind("\x1b[I"), InputKind::Focus);
  EXPECT_EQ(only_kind("\x1b[O"), InputKind::Focus);
}

TEST(Input, KittyKeysAreTextEnterKeysOrReleases) {
  EXPECT_EQ(text_of("\x1b[97u"), "a");
  EXPECT_EQ(text_of("\x1b[97:65;2u"), "A");
  EXPECT_EQ(text_of("\x1b[97;;229u"), "å");
  EXPECT_EQ(only_kind("\x1b[13u"), InputKind::Enter);
  EXPECT_EQ(only_kind("\x1b[13;129u"), InputKind::Enter) << "num lock does not count as modifier";
  EXPECT_EQ(only_kind("\x1b[57414u"), InputKind::Enter);
  EXPECT_EQ(only_kind("\x1b[13;2u"), InputKind::Key) << "shift and Enter";
  EXPECT_EQ(only_kind("\x1b[99;5u"), InputKind::Key);
  EXPECT_EQ(only_kind("\x1b[97;1:3u"), InputKind::KeyRelease);
  EXPECT_EQ(only_kind("\x1b[1;1:3A"), InputKind::KeyRelease);
  EXPECT_EQ(only_kind("\x1b[27;5;13~"), InputKind::Key);
}

TEST(Input, PasteIsOneEventForAnyContent) {
  const auto events = split("\x1b[200~one\rtwo\x1b[A\x1b[201~x");
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].kind, InputKind::Paste);
  EXPECT_EQ(events[0].text, "one\rtwo\x1b[A");
  EXPECT_TRUE(events[0].paste_start && events[0].paste_end);
  EXPECT_EQ(events[1].kind, InputKind::Text);
}

TEST(Input, LoneEscapeIsAKeyAfterTheTimeout) {
  InputSplitter splitter;
  EXPECT_TRUE(splitter.feed("\x1b", at(0)).empty());
  EXPECT_EQ(splitter.deadline(), at(kEscapeTimeoutMs));
  EXPECT_TRUE(splitter.expire(at(kEscapeTimeoutMs - 1)).empty());
  const auto events = splitter.expire(at(kEscapeTimeoutMs));
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, InputKind::Key);
  EXPECT_EQ(splitter.deadline(), std::nullopt);
}

TEST(Input, WaitsForAReplyOnASlowLine) {
  InputSplitter splitter;
  EXPECT_TRUE(splitter.feed("\x1b]11;rgb:00", at(0)).empty());
  EXPECT_TRUE(splitter.expire(at(1'000)).empty());
  const auto events = splitter.feed("00/0000/0000\a", at(1'500));
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, InputKind::Reply);
  EXPECT_TRUE(splitter.feed("\x1b[?62", at(2'000)).empty());
  const auto expired = splitter.expire(at(10'000));
  ASSERT_EQ(expired.size(), 1u);
  EXPECT_EQ(expired[0].kind, InputKind::Reply) << "the rest of a reply is not typing";
}

TEST(Input, AltKeysThatLookLikeStringsStayKeys) {
  EXPECT_EQ(split("\x1b]x")[0].kind, InputKind::Key);
  EXPECT_EQ(split("\x1bPhello")[0].kind, InputKind::Key);
  EXPECT_EQ(split("\x1b_a")[0].kind, InputKind::Key);
}

TEST(Input, EndlessReplyIsSplit) {
  InputSplitter splitter;
  const std::string flood = "\x1b]52;c;" + std::string(100'000, 'A');
  std::size_t bytes = 0;
  for (const auto& event : splitter.feed(flood, at(0))) {
    EXPECT_EQ(event.kind, InputKind::Reply);
    bytes += event.bytes.size();
  }
  EXPECT_EQ(bytes, flood.size());
  const auto end = splitter.feed("AAA\x1b\\x", at(1));
  EXPECT_EQ(end.back().kind, InputKind::Text);
}

/// Events with runs of text and parts of a paste joined, as for an unsplit stream.
std::vector<InputEvent> joined(const std::vector<InputEvent>& events) {
  std::vector<InputEvent> out;
  for (const auto& event : events) {
    const bool goes_on =
        !out.empty() && event.kind == out.back().kind &&
        ((event.kind == InputKind::Text && !out.back().bytes.starts_with("\x1b") && !event.bytes.starts_with("\x1b")) ||
         (event.kind == InputKind::Paste && !event.paste_start));
    if (!goes_on) {
      out.push_back(event);
      continue;
    }
    out.back().bytes += event.bytes;
    out.back().text += event.text;
    out.back().paste_end = event.paste_end;
  }
  return out;
}

TEST(Input, SameEventsForAnySplit) {
  const std::string stream =
      "hé中\r\x1b[A\x1b[200~pa\x1b[20ste\r\x1b[201~\x1b[?62;22c\x1b]11;rgb:0/0/"
      "0\x1b\\\x1bP>|x\x1b\\\x1b[<0;1;2M\x1b[Mabc"
      "\x1b[I\x1b[97:65;2:1u\x1b[13u\x1bOP\x1b\x1b[B\x1bx\x1bé\x1b[[Aend\xff\xe4x";
  const auto whole = joined(split(stream));
  std::string bytes;
  for (const auto& event : whole) bytes += event.bytes;
  EXPECT_EQ(bytes, stream);
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    InputSplitter splitter;
    auto events = splitter.feed(std::string_view{stream}.substr(0, cut), at(0));
    for (auto& event : splitter.feed(std::string_view{stream}.substr(cut), at(1))) events.push_back(event);
    EXPECT_EQ(joined(events), whole) << "split at byte " << cut;
  }
}

TEST(Input, AllBytesArePassedOn) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SeededRandom random{seed};
    static constexpr std::string_view kAlphabet = "\x1b[]P_O?<>;:0123~RMuIa\r\a\\\xe4\xb8\xad\xff ";
    std::string stream;
    std::string received;
    InputSplitter splitter;
    for (int i = 0; i < 200; ++i) {
      const std::string byte(1, kAlphabet[random.below(kAlphabet.size())]);
      stream += byte;
      for (const auto& event : splitter.feed(byte, at(i))) received += event.bytes;
      if (random.below(20) == 0)
        for (const auto& event : splitter.expire(at(1'000'000))) received += event.bytes;
    }
    for (const auto& event : splitter.expire(at(2'000'000))) received += event.bytes;
    EXPECT_EQ(received, stream) << "seed " << seed;
  }
}

}  // namespace
}  // namespace relay::terminal
