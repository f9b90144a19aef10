/// Any program output: the screen does not depend on how the bytes are split, its grid stays consistent, its memory
/// bounded, and it can be redrawn.
///
/// The first byte seeds splits and resizes, the second chooses the size, the rest is the stream.
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "check.h"
#include "terminal/logical_lines.h"
#include "terminal/query_reply.h"
#include "terminal/render.h"
#include "terminal/screen.h"

namespace {

using namespace relay::terminal;

constexpr std::size_t kRows = 50;
constexpr std::size_t kBytes = 4'096;

void check_whole(const Screen& screen) {
  const Grid& grid = screen.grid();
  const Cursor cursor = screen.cursor();
  FUZZ_CHECK(grid.size() == screen.size());
  FUZZ_CHECK(cursor.row >= 0 && cursor.row < grid.rows() && cursor.column >= 0 && cursor.column < grid.columns());
  for (int index = 0; index < grid.rows(); ++index) {
    const Row& row = grid.row(index);
    FUZZ_CHECK(row.columns() == grid.columns() && !row.cell(0).is_spacer());
    for (int column = 0; column < row.columns(); ++column) {
      const bool spacer_follows = column + 1 < row.columns() && row.cell(column + 1).is_spacer();
      FUZZ_CHECK((row.cell(column).columns() == 2) == spacer_follows);
      FUZZ_CHECK(row.cell_text(column).size() <= kMaxClusterBytes);
    }
  }
  const Scrollback& scrollback = screen.scrollback();
  FUZZ_CHECK(scrollback.end() - scrollback.first() <= kRows && scrollback.bytes() <= kBytes);
  FUZZ_CHECK(screen.title().size() <= kMaxTitleBytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view stream{reinterpret_cast<const char*>(data) + 2, size - 2};
  const Size dimensions{2 + data[1] % 40, 1 + data[1] / 32};
  relay::SeededRandom random{data[0]};

  Screen whole{dimensions, kRows, kBytes};
  whole.feed(stream);
  check_whole(whole);

  Screen parts{dimensions, kRows, kBytes};
  for (auto rest = stream; !rest.empty();) {
    const std::size_t piece = 1 + random.below(std::min<std::size_t>(rest.size(), 20));
    parts.feed(rest.substr(0, piece));
    rest.remove_prefix(piece);
    check_whole(parts);
  }
  FUZZ_CHECK(parts == whole);
  FUZZ_CHECK(parts.scrollback() == whole.scrollback());
  const auto reports = whole.take_reports();
  FUZZ_CHECK(parts.take_reports() == reports && reports.size() <= kMaxReports);
  for (const auto& report : reports)
    if (const auto* seen = std::get_if<QueryReceived>(&report)) (void)reply_to_query(seen->query, whole.size());
  FUZZ_CHECK(!logical_lines(whole.scrollback(), whole.grid()).empty());

  whole.feed("\x18");  // ends a partial sequence
  parts.feed("\x18");
  Screen drawn{whole.size()};
  drawn.feed(render(whole));
  FUZZ_CHECK(drawn == whole);

  whole.resize({2 + static_cast<int>(random.below(60)), 1 + static_cast<int>(random.below(20))});
  check_whole(whole);
  whole.feed(stream);
  check_whole(whole);
  whole.feed("\x18");
  whole.feed(restore_sequence(whole));
  FUZZ_CHECK(whole.modes() == Modes{});
  return 0;
}
