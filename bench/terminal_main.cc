/// relay_terminal_bench [--rounds N]: our screen model and libvterm, fed the same streams in turns; see README.md.
#include <vterm.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/random.h"
#include "terminal/screen.h"

namespace {

using namespace relay;

constexpr std::size_t kStreamBytes = 8u << 20;
constexpr std::size_t kChunkBytes = 4'096;  // what one read of a pseudo-terminal brings
constexpr int kColumns = 120;
constexpr int kRows = 40;

/// What a build prints: lines of words, now and then a colour.
std::string log_like() {
  SeededRandom random{1};
  std::string out;
  for (int line = 0; out.size() < kStreamBytes; ++line) {
    out += format("[{:06}] ", line);
    if (random.below(4) == 0) out += "\x1b[32m";
    const auto words = 4 + random.below(14);
    for (std::uint64_t i = 0; i < words; ++i) out += format("word{} ", random.below(1'000));
    out += "\x1b[0m\r\n";
  }
  return out;
}

/// What an agent draws: synchronized frames of moves, colours, boxes and words.
std::string tui_like() {
  SeededRandom random{2};
  std::string out;
  while (out.size() < kStreamBytes) {
    out += "\x1b[?2026h\x1b[?25l";
    const auto rows = 3 + random.below(12);
    for (std::uint64_t i = 0; i < rows; ++i) {
      const auto row = 1 + random.below(kRows);
      out += format("\x1b[{};1H\x1b[38;2;{};119;87m│\x1b[39m ", row, random.below(256));
      const auto words = 3 + random.below(8);
      for (std::uint64_t word = 0; word < words; ++word)
        out += random.below(3) == 0 ? format("\x1b[1mword{}\x1b[22m ", random.below(100))
                                    : format("some text {} ", random.below(100));
      if (random.below(5) == 0) out += "╭────────────────────╮";
      if (random.below(8) == 0) out += "日本語 ✻";
      out += "\x1b[K";
    }
    out += format("\x1b[{};{}H\x1b[?25h\x1b[?2026l", 1 + random.below(kRows), 1 + random.below(kColumns));
  }
  return out;
}

template <class Feed>
double megabytes_per_second(const std::string& stream, Feed feed) {
  const std::clock_t start = std::clock();  // of this thread's processor: other work on the machine does not count
  for (std::size_t at = 0; at < stream.size(); at += kChunkBytes)
    feed(std::string_view{stream}.substr(at, kChunkBytes));
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  return static_cast<double>(stream.size()) / 1e6 / seconds;
}

double ours(const std::string& stream) {
  terminal::Screen screen{{kColumns, kRows}};
  return megabytes_per_second(stream, [&](std::string_view bytes) {
    screen.feed(bytes);
    (void)screen.take_reports();
  });
}

double libvterm(const std::string& stream) {
  const std::unique_ptr<VTerm, decltype(&vterm_free)> terminal{vterm_new(kRows, kColumns), vterm_free};
  vterm_set_utf8(terminal.get(), 1);
  VTermScreen* screen = vterm_obtain_screen(terminal.get());
  vterm_screen_enable_altscreen(screen, 1);
  vterm_screen_set_damage_merge(screen, VTERM_DAMAGE_SCROLL);
  vterm_screen_reset(screen, 1);
  return megabytes_per_second(stream, [&](std::string_view bytes) {
    vterm_input_write(terminal.get(), bytes.data(), bytes.size());
    vterm_screen_flush_damage(screen);
  });
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = 5;
  if (argc == 3 && std::string_view{argv[1]} == "--rounds") rounds = std::max(1, std::atoi(argv[2]));
  std::printf("%-10s %16s %16s %8s\n", "stream", "ours MB/s", "libvterm MB/s", "ratio");
  for (const auto& [name, stream] : {std::pair{"TUI-like", tui_like()}, std::pair{"log-like", log_like()}}) {
    std::vector<double> mine;
    std::vector<double> theirs;
    for (int round = 0; round < rounds; ++round) {
      mine.push_back(ours(stream));
      theirs.push_back(libvterm(stream));
    }
    std::printf("%-10s %16.0f %16.0f %8.1f\n", name, median(mine), median(theirs), median(mine) / median(theirs));
  }
  return 0;
}
