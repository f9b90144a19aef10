#include "permissions/shell_words.h"

#include <algorithm>
#include <iterator>

#include "base/format.h"
#include "text/visible_text.h"

namespace relay::permissions {
namespace {

constexpr std::string_view kNeverOutsideQuotes = ";&|<>(){}$`\\!";
constexpr std::string_view kNeverInDoubleQuotes = "$`\\!";
constexpr std::string_view kNotFirstInAWord = "#^=%";  // comment; redirection in old fish; zsh's paths; jobs
constexpr std::string_view kFilePattern = "*?[]";

/// Words that make the following words more shell code.
constexpr std::string_view kShellItself[] = {
    "if",    "then",  "else", "elif",  "fi",      "case",    "esac",     "for",    "foreach", "repeat", "select",
    "while", "until", "do",   "done",  "in",      "[[",      "function", "time",   "coproc",  "eval",   "source",
    ".",     "exec",  "trap", "alias", "builtin", "command", "begin",    "switch", "and",     "or",     "not"};

bool is_bare(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         static_cast<unsigned char>(c) >= 0x80 || std::string_view{"_@%+=:,./-"}.contains(c);
}

bool needs_quotes(std::string_view word) {
  return word.empty() || kNotFirstInAWord.contains(word.front()) || !std::ranges::all_of(word, is_bare);
}

std::string quoted(std::string_view word) {
  std::string text = "'";
  for (const char c : word) {
    if (c == '\'')
      text += "'\"'\"'";
    else
      text += c;
  }
  return text + "'";
}

class Scanner {
 public:
  explicit Scanner(std::string_view line) : rest_{line} {}

  Result<SimpleCommand> read() {
    while (skip_blanks()) RELAY_TRY(read_word());
    if (command_.words.empty()) return fail("there is no command");
    const auto& first = command_.words.front();
    if (first.contains('=')) return fail("a variable is set before the command");
    if (std::ranges::find(kShellItself, first) != std::end(kShellItself))
      return fail(format("{} passes its words to the shell", first));
    return std::move(command_);
  }

 private:
  bool skip_blanks() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
    return !rest_.empty();
  }

  Result<void> read_word() {
    std::string word;
    bool in_quotes = false, special = false;
    const auto* const start = rest_.data();
    while (!rest_.empty() && rest_.front() != ' ') {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      const bool first = rest_.data() == start + 1;
      if (c == '\'' || c == '"') {
        in_quotes = true;
        RELAY_TRY(read_quoted(c, word));
        continue;
      }
      if (kNeverOutsideQuotes.contains(c)) return fail(format("{} outside quotes", c));
      if (first && kNotFirstInAWord.contains(c)) return fail(format("a word starts with {}", c));
      special = special || kFilePattern.contains(c) || (first && c == '~');
      word += c;
    }
    if (in_quotes && special) return fail("a pattern for file names is partly in quotes");
    if (!command_.text.empty()) command_.text += ' ';
    command_.text += in_quotes && needs_quotes(word) ? quoted(word) : word;
    command_.words.push_back(std::move(word));
    return {};
  }

  Result<void> read_quoted(char quote, std::string& word) {
    while (!rest_.empty()) {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == quote) return {};
      if (c == '\\') return fail("a backslash in quotes");  // fish interprets it, other shells do not
      if (quote == '"' && kNeverInDoubleQuotes.contains(c)) return fail(format("{} in double quotes", c));
      word += c;
    }
    return fail("a quote is not closed");
  }

  std::string_view rest_;
  SimpleCommand command_;
};

}  // namespace

Result<SimpleCommand> read_simple_command(std::string_view line) {
  if (line.size() > kMaxSimpleCommandBytes) return fail("it is too long");
  if (!text::is_visible_text(line)) return fail("it contains a line end, a tab, or invisible characters");
  return Scanner{line}.read();
}

}  // namespace relay::permissions
