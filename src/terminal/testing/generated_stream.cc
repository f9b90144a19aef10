#include "terminal/testing/generated_stream.h"

#include <array>
#include <string_view>

#include "base/format.h"

namespace relay::terminal::testing {
namespace {

constexpr std::string_view kWords[] = {"hello",      "a",    "the quick brown fox ", "x y", "|",
                                       "0123456789", "    ", "@relay:Bob "};
constexpr std::string_view kUnicode[] = {"é",   "─", "│", "╭──╮", "中",     "文字", "한국",    "ｗ", "🙂",
                                         "▐▛█", "…", "✻", "⠋",    "日本語", "🚀",   "e\u0301", "✋", "o\u0308\u0323"};
/// Clusters: xterm.js puts every part into a separate cell.
constexpr std::string_view kClusters[] = {"👩\u200d🚀", "👨\u200d👩\u200d👧", "🇩🇪",  "❤\ufe0f",
                                          "👍🏽",       "1\ufe0f\u20e3",      "नमस्ते"};
constexpr std::string_view kControls[] = {"\r\n", "\n", "\r", "\b", "\t", "\r\n", "\r\n"};
constexpr std::string_view kSimple[] = {"\x1b[K",
                                        "\x1b[1K",
                                        "\x1b[2K",
                                        "\x1b[J",
                                        "\x1b[2J",
                                        "\x1b[H",
                                        "\x1b[m",
                                        "\x1b[1m",
                                        "\x1b[7m",
                                        "\x1b[31m",
                                        "\x1b[44m",
                                        "\x1b[48;5;100m",
                                        "\x1b[38;2;1;2;3m",
                                        "\x1b[4:3m",

                                        "\x1bH",
                                        "\x1b[g",
                                        "\x1b]0;title\a",
                                        "\x1b]8;;http://x\x1b\\",
                                        "\x1bPq#0\x1b\\",
                                        "\x1b_Gx\x1b\\",
                                        "\x1b[?25l",
                                        "\x1b[?2026h",
                                        "\x1b[?2026l",
                                        "\x1b[?1004h",
                                        "\x1b[?2004h"};
constexpr std::string_view kRare[] = {"\x1b[4h",
                                      "\x1b[4l",
                                      "\x1b[?1047h",
                                      "\x1b[?1047l",
                                      "\x1b(0",
                                      "\x1b(B",
                                      "\x0e",
                                      "\x0f",
                                      "\x1b[r",
                                      "\x1b[4l",
                                      "\x1b[?1047l",
                                      "\x1b[?1049hinside\x1b[3;3Hit\x1b[?1049l",
                                      "\x1b"
                                      "7\x1b[2;2Hover there\x1b"
                                      "8"};
constexpr std::string_view kCounted = "ABCDEFGXP@LMSTdba";
constexpr std::string_view kScrolling[] = {"\x1bM",
                                           "\x1b"
                                           "D",
                                           "\x1b"
                                           "E"};
/// Not in the shared vocabulary. xterm.js throws at ED 1 in the last cell, scrolls the saved cursor and does
/// not restore character sets with it, breaks a wide character overwritten at the margin without wrapping, adds the
/// region's top twice in origin mode, and obeys C1 controls. The rest are queries, keyboards and malformed bytes.
constexpr std::string_view kOurs[] = {"\x1b[1J",
                                      "\x1b[?7l",
                                      "\x1b[?7h",
                                      "\x1b"
                                      "7",
                                      "\x1b"
                                      "8",
                                      "\x1b[?1049h",
                                      "\x1b[?1049l",
                                      "\x1b[?6h",
                                      "\x1b[?6l",
                                      "\x1b[!p",
                                      "\x1b"
                                      "c",
                                      "\x1b#8",
                                      "\x1b[?45h",
                                      "\x1b[20h",
                                      "\x1b[20l",
                                      "\x1b[>1u",
                                      "\x1b[<u",
                                      "\x1b[=5;2u",
                                      "\x1b[?1000h",
                                      "\x1b[?1006h",
                                      "\x1b[c",
                                      "\x1b[6n",
                                      "\x1b[?2026$p",
                                      "\x1b]7501;?\a",
                                      "\x1b]7501;state=working:app=x:msg=aGk=\a",
                                      "\x1b[22;0t",
                                      "\x1b[23;0t",
                                      "\x1b[3g",
                                      "\x1b[5 q",
                                      "\x1b[>4;2m",
                                      "\x1b*0\x1bn",
                                      "\x1b[3J",
                                      "\u0301",
                                      "\u200b",
                                      "\ufe0f",
                                      "\u200d",
                                      "\xff",
                                      "\xe4\xb8",
                                      "\xc2\x9b"
                                      "31m",
                                      "\x1b[1;2;3;4;5;6;7;8;9;10;11;12;13;14;15;16;17;18;19;20;21;22;23;24;25;26;27;28;"
                                      "29;30;31;32;33;34m",
                                      "\x1b[99999999999A",
                                      "\x1b[?1;2",
                                      "\x1b",
                                      "\x1b[",
                                      "\x1b]",
                                      "\x1bP1+q",
                                      "\x18",
                                      "\x1a",
                                      "\x1b[38;5m",
                                      "\x1b[38:2::1:2:3m",
                                      "\x1b[:::m"};

template <std::size_t N>
std::string_view one_of(Random& random, const std::string_view (&list)[N]) {
  return list[random.below(N)];
}

int up_to(Random& random, int bound) { return static_cast<int>(random.below(static_cast<std::uint64_t>(bound))) + 1; }

/// A text long enough to wrap.
std::string paragraph(Random& random, Size size) {
  std::string text;
  const int length = up_to(random, 2 * size.columns);
  while (static_cast<int>(text.size()) < length)
    text += random.below(6) == 0 ? one_of(random, kUnicode) : one_of(random, kWords);
  return text;
}

std::string piece(Random& random, Size size, Vocabulary vocabulary) {
  const auto choice = random.below(vocabulary == Vocabulary::Full ? 110 : 100);
  if (choice < 22) return std::string{one_of(random, kWords)};
  if (choice < 32) return std::string{one_of(random, kUnicode)};
  if (choice < 38) return paragraph(random, size);
  if (choice < 52) return std::string{one_of(random, kControls)};
  if (choice < 60) return format("\x1b[{};{}H", up_to(random, size.rows + 1), up_to(random, size.columns + 1));
  if (choice < 72) return std::string{one_of(random, kSimple)};
  if (choice < 88) return format("\x1b[{}{}", up_to(random, 6), kCounted[random.below(kCounted.size())]);
  if (choice < 90) return std::string{one_of(random, kScrolling)};
  if (choice < 92) {
    const int top = up_to(random, size.rows);
    return format("\x1b[{};{}r", top, top + up_to(random, size.rows));
  }
  if (choice < 94) return format("\x1b[{}G", up_to(random, size.columns + 2));
  if (choice < 96) return format("{}\x1b[{}b", one_of(random, kWords), up_to(random, 10));
  if (choice < 100) return std::string{one_of(random, kRare)};
  if (choice < 103) return std::string{one_of(random, kClusters)};
  return std::string{one_of(random, kOurs)};
}

}  // namespace

std::string generated_stream(Random& random, Size size, int pieces, Vocabulary vocabulary) {
  std::string stream;
  for (int i = 0; i < pieces; ++i) stream += piece(random, size, vocabulary);
  return stream;
}

}  // namespace relay::terminal::testing
