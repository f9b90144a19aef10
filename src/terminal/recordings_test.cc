/// Recordings of real agents: the screens match those of another emulator, for any split, and can be rendered again.
#include <gtest/gtest.h>

#include "base/format.h"
#include "terminal/render.h"
#include "terminal/testing/recording.h"
#include "terminal/testing/screens.h"

namespace relay::terminal {
namespace {

using namespace testing;

/// Removes blanks at the end, also no-break ones: the other emulator's reader removed both.
std::string trimmed(std::string text) {
  constexpr std::string_view kNoBreak = "\u00a0";
  while (text.ends_with(' ') || text.ends_with(kNoBreak))
    text.erase(text.size() - (text.ends_with(' ') ? 1 : kNoBreak.size()));
  return text;
}

/// Empty, or the first row that differs.
std::string difference(const Screen& screen, const std::vector<std::string>& expected) {
  for (int row = 0; row < screen.grid().rows(); ++row) {
    const auto index = static_cast<std::size_t>(row);
    const std::string theirs = index < expected.size() ? trimmed(expected[index]) : "";
    const std::string own_row = trimmed(screen.grid().text(row));
    if (own_row.find("\u200d") != std::string::npos) continue;  // that emulator drops joined characters
    if (own_row != theirs) return format("row {}: |{}| instead of |{}|", row, own_row, theirs);
  }
  return {};
}

class Recordings : public ::testing::Test {
 protected:
  static const std::vector<Recording>& all() {
    static const std::vector<Recording> recordings = [] {
      std::vector<Recording> read;
      for (const auto& cast : recordings_below(RELAY_AGENTS)) {
        auto recording = read_recording(cast);
        EXPECT_TRUE(recording.has_value()) << recording.error().message();
        if (recording) read.push_back(*std::move(recording));
      }
      return read;
    }();
    return recordings;
  }
};

TEST_F(Recordings, AreComplete) { EXPECT_GE(all().size(), 100u); }

TEST_F(Recordings, MatchAnotherEmulator) {
  int compared = 0;
  for (const auto& recording : all()) {
    Screen screen{recording.size};
    std::size_t next = 0;
    bool resized_primary = false;  // that emulator reflows, this one does not
    for (const auto& event : recording.events) {
      if (event.kind == 'o') screen.feed(event.data);
      if (event.kind == 'r') {
        resized_primary = resized_primary || !screen.alternate();
        screen.resize(size_of(event.data));
      }
      if (event.kind != 'm' || next >= recording.screens.size()) continue;
      const auto& expected = recording.screens[next];
      if (event.data != "shot:" + expected.label) continue;
      ++next;
      if (resized_primary) continue;
      ++compared;
      EXPECT_EQ(difference(screen, expected.lines), "") << recording.name << ", " << expected.label;
      const Cursor cursor = screen.cursor();
      EXPECT_EQ((Position{cursor.row, cursor.column + (cursor.wrap_pending ? 1 : 0)}), expected.cursor)
          << recording.name << ", " << expected.label;
    }
  }
  EXPECT_GE(compared, 300);
}

TEST_F(Recordings, AreTheSameByteByByteAndAfterRender) {
  for (const auto& recording : all()) {
    const std::string bytes = recording.output();
    if (bytes.size() > 200'000) continue;  // long recordings mostly repeat spinners
    Screen whole = screen_after(bytes, recording.size);
    Screen parts{recording.size};
    for (const char byte : bytes) parts.feed({&byte, 1});
    ASSERT_EQ(parts, whole) << recording.name;
    ASSERT_EQ(parts.scrollback(), whole.scrollback()) << recording.name;
    ASSERT_EQ(parts.take_reports(), whole.take_reports()) << recording.name;
    Screen drawn{recording.size};
    drawn.feed(render(whole));
    ASSERT_EQ(drawn, whole) << recording.name;
  }
}

}  // namespace
}  // namespace relay::terminal
