/// The same screen, scrollback and reports follow however a stream is split.
#include <gtest/gtest.h>

#include "terminal/testing/generated_stream.h"
#include "terminal/testing/screens.h"

namespace relay::terminal {
namespace {

using namespace testing;

constexpr Size kSize{20, 6};

void expect_same_when_cut(const std::string& stream, std::size_t cut) {
  Screen whole = screen_after(stream, kSize);
  Screen parts{kSize};
  parts.feed(std::string_view{stream}.substr(0, cut));
  parts.feed(std::string_view{stream}.substr(cut));
  ASSERT_EQ(parts, whole) << "split at byte " << cut;
  ASSERT_EQ(parts.scrollback(), whole.scrollback()) << "split at byte " << cut;
  ASSERT_EQ(parts.take_reports(), whole.take_reports()) << "split at byte " << cut;
}

TEST(Chunking, MixedStreamSplitAtEveryByte) {
  const std::string stream =
      "plain \x1b[1;38;2;10;20;30mcolour\x1b[0m 中文 e\u0301 👨\u200d👩\u200d👧 ❤\ufe0f\r\n\x1b]0;a title\x1b\\"
      "\x1b]7501;state=working:app=x:msg=aGk=\a\x1bP+q544e\x1b\\\x1b[?1049h\x1b[2;4r\x1b[3;1H\n\n\x1b[?1049l"
      "\x1b(0lqk\x1b(B\x1b[5bX\x1b[6n\xe4\xb8\x1b[Kend\r\n\n\n\n\n\n";
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) expect_same_when_cut(stream, cut);
}

TEST(Chunking, GeneratedStreamsSplitAtEveryByte) {
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    SeededRandom random{seed};
    const std::string stream = generated_stream(random, kSize, 30, Vocabulary::Full);
    SCOPED_TRACE(seed);
    for (std::size_t cut = 0; cut <= stream.size(); ++cut) expect_same_when_cut(stream, cut);
  }
}

TEST(Chunking, GeneratedStreamsByteByByteKeepTheGridConsistent) {
  for (std::uint64_t seed = 100; seed < 200; ++seed) {
    SeededRandom random{seed};
    const std::string stream = generated_stream(random, kSize, 60, Vocabulary::Full);
    Screen screen{kSize};
    for (const char byte : stream) {
      screen.feed({&byte, 1});
      ASSERT_EQ(broken_cells(screen.grid()), "") << "seed " << seed;
      ASSERT_LT(screen.cursor().row, kSize.rows);
      ASSERT_LT(screen.cursor().column, kSize.columns);
    }
    ASSERT_EQ(screen, screen_after(stream, kSize)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace relay::terminal
