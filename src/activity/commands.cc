#include "activity/commands.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace relay::activity {
namespace {

using events::ItemType;
using Words = std::vector<std::string>;

constexpr std::size_t kMaxLineBytes = 4096;  // bytes of a command line
constexpr std::size_t kMaxNesting = 3;       // `bash -c "..."`

/// A program, or a program and one of its first non-option words; a trailing `*` matches any ending.
struct KnownCommand {
  std::string_view program;
  std::string_view word = {};
  ItemType type = ItemType::TestRun;
};

constexpr auto kCommandTypes = std::to_array<KnownCommand>({
    {"pytest"},
    {"py.test"},
    {"tox"},
    {"nox"},
    {"jest"},
    {"vitest"},
    {"mocha"},
    {"ava"},
    {"ctest"},
    {"rspec"},
    {"phpunit"},
    {"gotestsum"},
    {"playwright", "test"},
    {"cypress", "run"},
    {"npm", "test*"},
    {"npm", "t"},
    {"yarn", "test*"},
    {"pnpm", "test*"},
    {"bun", "test*"},
    {"deno", "test"},
    {"node", "--test"},
    {"cargo", "test"},
    {"cargo", "nextest"},
    {"go", "test"},
    {"make", "test*"},
    {"make", "check*"},
    {"ninja", "test*"},
    {"ninja", "check*"},
    {"meson", "test"},
    {"cmake", "test"},
    {"mvn", "test"},
    {"mvn", "verify"},
    {"gradle", "test*"},
    {"gradle", "check"},
    {"gradlew", "test*"},
    {"gradlew", "check"},
    {"dotnet", "test"},
    {"rake", "test*"},
    {"rake", "spec*"},
    {"rails", "test*"},
    {"mix", "test"},
    {"swift", "test"},
    {"bazel", "test"},
    {"just", "test*"},
    {"unittest"},
    {"make", "", ItemType::Build},
    {"ninja", "", ItemType::Build},
    {"cmake", "", ItemType::Build},
    {"meson", "", ItemType::Build},
    {"bazel", "build", ItemType::Build},
    {"cargo", "build", ItemType::Build},
    {"cargo", "check", ItemType::Build},
    {"cargo", "clippy", ItemType::Build},
    {"go", "build", ItemType::Build},
    {"go", "install", ItemType::Build},
    {"go", "vet", ItemType::Build},
    {"npm", "build*", ItemType::Build},
    {"yarn", "build*", ItemType::Build},
    {"pnpm", "build*", ItemType::Build},
    {"bun", "build*", ItemType::Build},
    {"vite", "build", ItemType::Build},
    {"next", "build", ItemType::Build},
    {"tsc", "", ItemType::Build},
    {"webpack", "", ItemType::Build},
    {"esbuild", "", ItemType::Build},
    {"rollup", "", ItemType::Build},
    {"gcc", "", ItemType::Build},
    {"g++", "", ItemType::Build},
    {"cc", "", ItemType::Build},
    {"c++", "", ItemType::Build},
    {"clang", "", ItemType::Build},
    {"clang++", "", ItemType::Build},
    {"rustc", "", ItemType::Build},
    {"javac", "", ItemType::Build},
    {"mvn", "compile", ItemType::Build},
    {"mvn", "package", ItemType::Build},
    {"mvn", "install", ItemType::Build},
    {"gradle", "build", ItemType::Build},
    {"gradle", "assemble*", ItemType::Build},
    {"gradlew", "build", ItemType::Build},
    {"gradlew", "assemble*", ItemType::Build},
    {"dotnet", "build", ItemType::Build},
    {"dotnet", "publish", ItemType::Build},
    {"docker", "build", ItemType::Build},
    {"swift", "build", ItemType::Build},
    {"xcodebuild", "", ItemType::Build},
    {"just", "build*", ItemType::Build},
    {"rg", "", ItemType::Search},
    {"grep", "", ItemType::Search},
    {"egrep", "", ItemType::Search},
    {"ag", "", ItemType::Search},
    {"ack", "", ItemType::Search},
    {"find", "", ItemType::Search},
    {"fd", "", ItemType::Search},
    {"locate", "", ItemType::Search},
    {"git", "grep", ItemType::Search},
});

/// Programs that run the command behind their options and words.
constexpr auto kWrappers = std::to_array<std::string_view>(
    {"sudo", "env",  "time",    "nice",   "nohup",   "timeout", "xvfb-run", "npx", "pnpx",
     "bunx", "uv",   "uvx",     "poetry", "pipenv",  "pdm",     "hatch",    "rye", "bundle",
     "run",  "exec", "command", "python", "python3", "ccache",  "stdbuf",   "dlx"});
constexpr auto kShells = std::to_array<std::string_view>({"bash", "sh", "zsh", "dash"});

bool contains(const auto& list, std::string_view word) { return std::ranges::find(list, word) != list.end(); }

bool matches(std::string_view pattern, std::string_view word) {
  if (!pattern.ends_with('*')) return word == pattern;
  pattern.remove_suffix(1);
  return word.starts_with(pattern);
}

std::string_view base_name(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

/// The simple commands of a line as words. Quotes keep words together; their content is not parsed.
std::vector<Words> split_commands(std::string_view line) {
  std::vector<Words> commands(1);
  std::string word;
  bool open = false;
  char quote = 0;
  const auto end_word = [&] {
    if (open) commands.back().push_back(std::exchange(word, {}));
    open = false;
  };
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (quote != 0) {
      if (c == quote)
        quote = 0;
      else
        word += c;
    } else if (c == '"' || c == '\'') {
      quote = c, open = true;
    } else if (c == '\\' && at + 1 < line.size()) {
      if (line[++at] != '\n') word += line[at], open = true;
    } else if (c == ' ' || c == '\t') {
      end_word();
    } else if (std::string_view{";&|\n()"}.find(c) != std::string_view::npos) {
      end_word();
      if (!commands.back().empty()) commands.emplace_back();
    } else {
      word += c, open = true;
    }
  }
  end_word();
  return commands;
}

ItemType type_of_line(std::string_view line, std::size_t depth);

ItemType type_of_words(const Words& words, std::size_t depth) {
  const auto is_assignment = [](std::string_view word) {
    const auto equals = word.find('=');
    return equals != std::string_view::npos && equals > 0 && word.find('/') > equals;
  };
  bool wrapped = false;
  for (std::size_t at = 0; at < words.size(); ++at) {
    const auto program = base_name(words[at]);
    if (contains(kShells, program)) {
      for (std::size_t i = at + 1; i + 1 < words.size(); ++i)
        if (words[i].starts_with('-') && words[i].ends_with('c')) return type_of_line(words[i + 1], depth + 1);
      return ItemType::ToolCall;
    }
    const auto rest = std::span{words}.subspan(at + 1);
    for (const auto& entry : kCommandTypes) {
      if (program != entry.program) continue;
      const auto is_it = [&](std::string_view word) { return matches(entry.word, word); };
      if (entry.word.empty() || std::ranges::any_of(rest.first(std::min<std::size_t>(rest.size(), 8)), is_it))
        return entry.type;
    }
    const bool of_tests = program.ends_with("_test") || program.ends_with("_tests") || program.ends_with("-test");
    if (of_tests && (!wrapped || program != words[at])) return ItemType::TestRun;
    const bool is_prefix =
        is_assignment(words[at]) || contains(kWrappers, program) ||
        (wrapped && (words[at].starts_with('-') || std::isdigit(static_cast<unsigned char>(words[at][0]))));
    if (!is_prefix) return ItemType::ToolCall;
    wrapped = true;
  }
  return ItemType::ToolCall;
}

ItemType type_of_line(std::string_view line, std::size_t depth) {
  if (depth > kMaxNesting) return ItemType::ToolCall;
  bool build = false, search = false, other = false;
  for (const auto& words : split_commands(line.substr(0, kMaxLineBytes))) {
    if (words.empty() || words[0] == "cd" || words[0] == "export" || words[0] == "set") continue;
    switch (type_of_words(words, depth)) {
      case ItemType::TestRun: return ItemType::TestRun;
      case ItemType::Build: build = true; break;
      case ItemType::Search: search = search || !other; break;
      default: other = !search; break;  // a program behind a search in a pipe only filters its output
    }
  }
  return build ? ItemType::Build : search && !other ? ItemType::Search : ItemType::ToolCall;
}

}  // namespace

ItemType item_type_of(std::string_view command) { return type_of_line(command, 0); }

}  // namespace relay::activity
