#include "output/streams.h"

#include "base/format.h"
#include "base/random.h"
#include "terminal/testing/recording.h"

namespace relay::bench {
namespace {

constexpr std::size_t kStreamBytes = 8u << 20;
constexpr terminal::Size kSize{120, 40};
constexpr std::string_view kDefaultProfile = "claude";

/// Build output: lines of words, some with color.
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

/// A drawn interface: synchronized frames with cursor moves, colors, boxes and words.
std::string frames_like() {
  SeededRandom random{2};
  const auto rows = static_cast<std::uint64_t>(kSize.rows), columns = static_cast<std::uint64_t>(kSize.columns);
  std::string out;
  while (out.size() < kStreamBytes) {
    out += "\x1b[?2026h\x1b[?25l";
    const auto drawn = 3 + random.below(12);
    for (std::uint64_t i = 0; i < drawn; ++i) {
      const auto row = 1 + random.below(rows);
      out += format("\x1b[{};1H\x1b[38;2;{};119;87m│\x1b[39m ", row, random.below(256));
      const auto words = 3 + random.below(8);
      for (std::uint64_t word = 0; word < words; ++word)
        out += random.below(3) == 0 ? format("\x1b[1mword{}\x1b[22m ", random.below(100))
                                    : format("some text {} ", random.below(100));
      if (random.below(5) == 0) out += "╭────────────────────╮";
      if (random.below(8) == 0) out += "日本語 ✻";
      out += "\x1b[K";
    }
    out += format("\x1b[{};{}H\x1b[?25h\x1b[?2026l", 1 + random.below(rows), 1 + random.below(columns));
  }
  return out;
}

/// Compiler output of a large project.
std::string flood() {
  std::string out;
  for (int line = 0; out.size() < kStreamBytes; ++line)
    out += format("\x1b[32m[{:08}]\x1b[0m compiling src/module_{}/file_{}.cc with a few more words\r\n", line,
                  line % 97, line % 1013);
  return out;
}

std::vector<Tape> recordings_of(std::string_view agent) {
  std::vector<Tape> tapes;
  const std::filesystem::path folder{RELAY_AGENTS};
  for (const auto& path : terminal::testing::recordings_below(folder)) {
    if (path.lexically_relative(folder).begin()->string() != agent) continue;
    if (const auto recording = terminal::testing::read_recording(path))
      tapes.push_back({std::string{agent}, recording->size, recording->output()});
  }
  return tapes;
}

}  // namespace

double Stream::megabytes() const {
  std::size_t bytes = 0;
  for (const auto& tape : tapes) bytes += tape.bytes.size();
  return static_cast<double>(bytes) / 1e6;
}

std::vector<Stream> all_streams() {
  std::vector<Stream> streams;
  for (const auto* agent : {"claude", "codex", "gemini", "opencode"})
    streams.push_back({format("recordings of {}", agent), recordings_of(agent)});
  const auto add_synthetic = [&](const char* title, std::string bytes) {
    streams.push_back({title, {{std::string{kDefaultProfile}, kSize, std::move(bytes)}}});
  };
  add_synthetic("drawn frames", frames_like());
  add_synthetic("a log", log_like());
  add_synthetic("a flood", flood());
  std::erase_if(streams, [](const Stream& stream) { return stream.tapes.empty(); });
  return streams;
}

}  // namespace relay::bench
