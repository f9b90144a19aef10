#include "output/agent_text.h"

#include "base/random.h"

namespace relay::bench {

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

}  // namespace relay::bench
