#include "terminal/input_splitter.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "terminal/limits.h"

namespace relay::terminal {
namespace {

constexpr SteadyTime at(int milliseconds) { return SteadyTime{Millis{milliseconds}}; }

std::vector<InputPiece> split(std::string_view bytes) {
  InputSplitter splitter;
  return splitter.feed(bytes, at(0));
}

InputKind only_kind(std::string_view bytes) {
  const auto pieces = split(bytes);
  EXPECT_EQ(pieces.size(), 1u) << bytes;
  return pieces.empty() ? InputKind::Text : pieces.front().kind;
}

std::string text_of(std::string_view bytes) {
  const auto pieces = split(bytes);
  return pieces.empty() ? "" : pieces.front().text;
}

TEST(Input, TypedTextEnterAndKeys) {
  const auto pieces = split("héllo\r\x03\x1b[A\x1bOB\x1bx\x7f");
  std::vector<InputKind> kinds;
  for (const auto& piece : pieces) kinds.push_back(piece.kind);
  using enum InputKind;
  EXPECT_EQ(kinds, (std::vector<InputKind>{Text, Enter, Key, Key, Key, Key, Key}));
  EXPECT_EQ(pieces[0].text, "héllo");
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
  EXPECT_EQ(only_kind("\x1b[13;129u"), InputKind::Enter) << "num lock is no modifier";
  EXPECT_EQ(only_kind("\x1b[57414u"), InputKind::Enter);
  EXPECT_EQ(only_kind("\x1b[13;2u"), InputKind::Key) << "shift and Enter";
  EXPECT_EQ(only_kind("\x1b[99;5u"), InputKind::Key);
  EXPECT_EQ(only_kind("\x1b[97;1:3u"), InputKind::KeyRelease);
  EXPECT_EQ(only_kind("\x1b[1;1:3A"), InputKind::KeyRelease);
  EXPECT_EQ(only_kind("\x1b[27;5;13~"), InputKind::Key);
}

TEST(Input, APasteIsOnePieceHoweverItLooks) {
  const auto pieces = split("\x1b[200~one\rtwo\x1b[A\x1b[201~x");
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(pieces[0].kind, InputKind::Paste);
  EXPECT_EQ(pieces[0].text, "one\rtwo\x1b[A");
  EXPECT_TRUE(pieces[0].paste_begins && pieces[0].paste_ends);
  EXPECT_EQ(pieces[1].kind, InputKind::Text);
}

TEST(Input, ALoneEscapeIsAKeyAfterItsTime) {
  InputSplitter splitter;
  EXPECT_TRUE(splitter.feed("\x1b", at(0)).empty());
  EXPECT_EQ(splitter.deadline(), at(kEscapeTimeoutMs));
  EXPECT_TRUE(splitter.expire(at(kEscapeTimeoutMs - 1)).empty());
  const auto pieces = splitter.expire(at(kEscapeTimeoutMs));
  ASSERT_EQ(pieces.size(), 1u);
  EXPECT_EQ(pieces[0].kind, InputKind::Key);
  EXPECT_EQ(splitter.deadline(), std::nullopt);
}

TEST(Input, AReplyOnASlowLineIsWaitedFor) {
  InputSplitter splitter;
  EXPECT_TRUE(splitter.feed("\x1b]11;rgb:00", at(0)).empty());
  EXPECT_TRUE(splitter.expire(at(1'000)).empty());
  const auto pieces = splitter.feed("00/0000/0000\a", at(1'500));
  ASSERT_EQ(pieces.size(), 1u);
  EXPECT_EQ(pieces[0].kind, InputKind::Reply);
  EXPECT_TRUE(splitter.feed("\x1b[?62", at(2'000)).empty());
  const auto given_up = splitter.expire(at(10'000));
  ASSERT_EQ(given_up.size(), 1u);
  EXPECT_EQ(given_up[0].kind, InputKind::Reply) << "what is left of a reply is no typing either";
}

TEST(Input, AltKeysThatLookLikeStringsStayKeys) {
  EXPECT_EQ(split("\x1b]x")[0].kind, InputKind::Key);
  EXPECT_EQ(split("\x1bPhello")[0].kind, InputKind::Key);
  EXPECT_EQ(split("\x1b_a")[0].kind, InputKind::Key);
}

TEST(Input, AnEndlessReplyIsPassedOnInPieces) {
  InputSplitter splitter;
  const std::string flood = "\x1b]52;c;" + std::string(100'000, 'A');
  std::size_t bytes = 0;
  for (const auto& piece : splitter.feed(flood, at(0))) {
    EXPECT_EQ(piece.kind, InputKind::Reply);
    bytes += piece.bytes.size();
  }
  EXPECT_EQ(bytes, flood.size());
  const auto end = splitter.feed("AAA\x1b\\x", at(1));
  EXPECT_EQ(end.back().kind, InputKind::Text);
}

/// Pieces with runs of text and parts of a paste joined, as they come when nothing is cut.
std::vector<InputPiece> joined(const std::vector<InputPiece>& pieces) {
  std::vector<InputPiece> out;
  for (const auto& piece : pieces) {
    const bool goes_on =
        !out.empty() && piece.kind == out.back().kind &&
        ((piece.kind == InputKind::Text && !out.back().bytes.starts_with("\x1b") && !piece.bytes.starts_with("\x1b")) ||
         (piece.kind == InputKind::Paste && !piece.paste_begins));
    if (!goes_on) {
      out.push_back(piece);
      continue;
    }
    out.back().bytes += piece.bytes;
    out.back().text += piece.text;
    out.back().paste_ends = piece.paste_ends;
  }
  return out;
}

TEST(Input, TheSamePiecesHoweverTheStreamIsCut) {
  const std::string stream =
      "hé中\r\x1b[A\x1b[200~pa\x1b[20ste\r\x1b[201~\x1b[?62;22c\x1b]11;rgb:0/0/"
      "0\x1b\\\x1bP>|x\x1b\\\x1b[<0;1;2M\x1b[Mabc"
      "\x1b[I\x1b[97:65;2:1u\x1b[13u\x1bOP\x1b\x1b[B\x1bx\x1bé\x1b[[Aend\xff\xe4x";
  const auto whole = joined(split(stream));
  std::string bytes;
  for (const auto& piece : whole) bytes += piece.bytes;
  EXPECT_EQ(bytes, stream);
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    InputSplitter splitter;
    auto pieces = splitter.feed(std::string_view{stream}.substr(0, cut), at(0));
    for (auto& piece : splitter.feed(std::string_view{stream}.substr(cut), at(1))) pieces.push_back(piece);
    EXPECT_EQ(joined(pieces), whole) << "cut at byte " << cut;
  }
}

TEST(Input, RandomBytesAreAllHandedOn) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SeededRandom random{seed};
    static constexpr std::string_view kAlphabet = "\x1b[]P_O?<>;:0123~RMuIa\r\a\\\xe4\xb8\xad\xff ";
    std::string stream;
    std::string seen;
    InputSplitter splitter;
    for (int i = 0; i < 200; ++i) {
      const std::string byte(1, kAlphabet[random.below(kAlphabet.size())]);
      stream += byte;
      for (const auto& piece : splitter.feed(byte, at(i))) seen += piece.bytes;
      if (random.below(20) == 0)
        for (const auto& piece : splitter.expire(at(1'000'000))) seen += piece.bytes;
    }
    for (const auto& piece : splitter.expire(at(2'000'000))) seen += piece.bytes;
    EXPECT_EQ(seen, stream) << "seed " << seed;
  }
}

}  // namespace
}  // namespace relay::terminal
