/// speech_bench [--megabytes N] [--rounds N]: how fast agents are heard, beside RE2 with the one-line rule; see README.md.
#include <re2/re2.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/random.h"
#include "figures.h"
#include "speech/default_patterns.h"
#include "speech/extractor.h"
#include "speech/findings.h"
#include "speech/screen_speech.h"

namespace {

using namespace relay;

/// What an agent writes in a day: paragraphs, lists, code, a table, and now and then a message.
std::string agent_like_text(std::size_t bytes) {
  constexpr std::string_view kWords[] = {"the",
                                         "parser",
                                         "reads",
                                         "every",
                                         "line",
                                         "once",
                                         "and",
                                         "session",
                                         "token",
                                         "is",
                                         "checked",
                                         "before",
                                         "src/auth/session.cpp",
                                         "because",
                                         "a",
                                         "retry",
                                         "would",
                                         "otherwise",
                                         "lose",
                                         "it",
                                         "`held_`",
                                         "returns",
                                         "Result",
                                         "—",
                                         "naïve"};
  SeededRandom random{7};
  std::string text;
  const auto sentence = [&](std::size_t words) {
    for (std::size_t i = 0; i < words; ++i) {
      if (i > 0) text += ' ';
      text += kWords[random.below(std::size(kWords))];
    }
  };
  while (text.size() < bytes) {
    switch (random.below(8)) {
      case 0:
        for (std::uint64_t item = random.below(6); item > 0; --item) {
          text += item % 2 == 0 ? "- " : "1. ";
          sentence(9);
          text += '\n';
        }
        break;
      case 1:
        text += "```cpp\n";
        for (std::uint64_t line = random.below(20); line > 0; --line) {
          text += "  if (";
          sentence(4);
          text += ") return;\n";
        }
        text += "```\n";
        break;
      case 2:
        if (random.below(8) == 0) {
          text += "@relay:Bob ";
          sentence(12);
          text += ".\n";
        }
        break;
      default: sentence(20 + random.below(60)); text += ".\n";
    }
    text += '\n';
  }
  return text;
}

double seconds_of(const auto& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// The rule for one line as a pattern, run on each line, as the published program does.
std::size_t count_with_re2(const RE2& pattern, std::string_view text) {
  std::size_t found = 0;
  re2::StringPiece target;
  re2::StringPiece body;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    found += RE2::PartialMatch(re2::StringPiece{text.data(), end}, pattern, &target, &body) ? 1U : 0U;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found;
}

std::size_t count_in_pieces(std::string_view text, std::size_t piece) {
  speech::Extractor extractor;
  std::size_t found = 0;
  while (!text.empty()) {
    found += extractor.feed(text.substr(0, piece)).size();
    text.remove_prefix(std::min(piece, text.size()));
  }
  return found + extractor.finish().size();
}

std::vector<speech::DrawnLine> drawn(std::string_view text, std::size_t width) {
  std::vector<speech::DrawnLine> rows;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    auto line = text.substr(0, end);
    do {
      auto cut = line.size() <= width ? line.size() : line.substr(0, width + 1).rfind(' ');
      if (cut == std::string_view::npos || cut == 0) cut = std::min(width, line.size());
      rows.push_back({.text = std::string{line.substr(0, cut)}, .indent = 0, .width = width, .soft = false});
      line.remove_prefix(std::min(cut + 1, line.size()));
    } while (!line.empty());
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return rows;
}

struct Row {
  const char* title;
  std::vector<double> seconds = {};
};

double median(const std::vector<double>& values) { return quantile(values, 0.5); }

void run(std::size_t megabytes, int rounds) {
  const auto text = agent_like_text(megabytes << 20);
  const auto rows_text = std::string_view{text}.substr(0, text.size() / 8);
  const auto rows = drawn(rows_text, 118);
  std::vector<std::string> plain;
  for (const auto& row : rows) plain.push_back(row.text);
  const RE2 pattern{R"(^(?:\s*(?:[>$%#→➜›»●•◦‣⁃\-*⏺◆◇○□■]\s*)*)?@relay:(\S+)\s+(.+)$)"};
  const auto detector = speech::Detector::compile(speech::default_patterns());
  if (!pattern.ok() || !detector) std::abort();

  std::vector<Row> table{{"RE2, the one-line rule"},      {"grammar, whole text"},        {"grammar, pieces of 4 KB"},
                         {"grammar, pieces of 64 bytes"}, {"screen: unwrap and grammar"}, {"detector, all patterns"}};
  std::size_t heard = 0;
  for (int round = 0; round < rounds; ++round) {
    table[0].seconds.push_back(seconds_of([&] { heard += count_with_re2(pattern, text); }));
    table[1].seconds.push_back(seconds_of([&] { heard += speech::hear(text).size(); }));
    table[2].seconds.push_back(seconds_of([&] { heard += count_in_pieces(text, 4096); }));
    table[3].seconds.push_back(seconds_of([&] { heard += count_in_pieces(text, 64); }));
    table[4].seconds.push_back(seconds_of([&] { heard += speech::hear_screen(rows).size(); }) * 8);
    table[5].seconds.push_back(seconds_of([&] { heard += find(*detector, plain).limits.size(); }) * 8);
  }
  std::printf("%s\n%zu MB of text like an agent's, %d rounds, median (%zu heard)\n\n", bench::machine().c_str(),
              megabytes, rounds, heard);
  std::printf("%-30s %10s %12s\n", "", "MB/s", "x RE2");
  const auto base = median(table[0].seconds);
  for (const auto& row : table) {
    const auto seconds = median(row.seconds);
    std::printf("%-30s %10.0f %12.1f\n", row.title, static_cast<double>(text.size()) / 1e6 / seconds, base / seconds);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t megabytes = 32;
  int rounds = 5;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string word = argv[i];
    if (word == "--megabytes") megabytes = std::strtoul(argv[i + 1], nullptr, 10);
    if (word == "--rounds") rounds = std::atoi(argv[i + 1]);
  }
  if (megabytes == 0 || megabytes > 1024 || rounds < 1) {
    std::fputs("usage: speech_bench [--megabytes N] [--rounds N]\n", stderr);
    return 2;
  }
  run(megabytes, rounds);
  return 0;
}
