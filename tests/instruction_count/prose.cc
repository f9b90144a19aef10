#include "prose.h"

#include <iterator>
#include <string_view>

#include "base/random.h"

namespace relay::cost {

std::string prose(std::size_t bytes, std::uint64_t seed) {
  constexpr std::string_view kWords[] = {"the",   "test",  "in",   "src/parser.cc", "fails",     "because", "a",
                                         "token", "naïve", "is",   "checked",       R"(\"v1\")", "before:", "42",
                                         "lines", "→",     "done", "and",           R"(then\n)", "built"};
  SeededRandom random{seed};
  std::string text;
  while (true) {
    const auto word = kWords[random.below(std::size(kWords))];
    if (text.size() + word.size() + 1 > bytes) break;
    text += word;
    text += ' ';
  }
  text.append(bytes - text.size(), '.');
  return text;
}

}  // namespace relay::cost
