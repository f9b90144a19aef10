// Keeps words that docs/glossary.md replaced out of the sources and the documents. retired.txt lists them: names, which are
// compared with whole identifiers, and phrases, which are searched in comments, string literals and Markdown.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"

namespace relay {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxReported = 40;

std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream file{path};
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(std::move(line));
  return lines;
}

struct RetiredTerms {
  std::set<std::string, std::less<>> names;
  std::vector<std::string> phrases;
};

RetiredTerms retired_terms() {
  RetiredTerms terms;
  for (const auto& line : lines_of(fs::path{RELAY_ROOT} / "tests/terms/retired.txt")) {
    if (line.starts_with("name ")) terms.names.insert(line.substr(5));
    if (line.starts_with("phrase ")) terms.phrases.push_back(line.substr(7));
  }
  return terms;
}

bool is_checked(const fs::path& path) {
  static const std::set<std::string, std::less<>> kExtensions = {".h",   ".cc",  ".md",    ".mjs", ".toml",
                                                                 ".txt", ".lua", ".cmake", ".in",  ""};
  const auto text = path.string();
  for (const auto* part : {"/testdata/", "/corpus/", "/recordings/", "/node_modules/", "/tests/terms/", "/glossary.md",
                           "_conversations.h"})
    if (text.find(part) != std::string::npos) return false;
  return kExtensions.contains(path.extension().string());
}

std::vector<fs::path> checked_files() {
  std::vector<fs::path> files;
  for (const auto* name : {"README.md", "ARCHITECTURE.md", "Makefile"}) files.push_back(fs::path{RELAY_ROOT} / name);
  for (const auto* folder : {"src", "tests", "docs", "bench", "fuzz", "examples", "scripts", "cmake"})
    for (const auto& entry : fs::recursive_directory_iterator{fs::path{RELAY_ROOT} / folder})
      if (entry.is_regular_file() && is_checked(entry.path())) files.push_back(entry.path());
  return files;
}

bool is_word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < line.size();) {
    std::size_t end = at;
    while (end < line.size() && is_word_character(line[end])) ++end;
    if (end > at) words.emplace_back(line.substr(at, end - at));
    at = std::max(end, at + 1);
  }
  return words;
}

/// The part of a line that is prose: all of Markdown, else comments and string literals.
std::string prose_of(const fs::path& path, std::string_view line) {
  std::string prose{line};
  if (path.extension() != ".md") {
    const auto start = std::min(line.find("//"), line.find('"'));
    if (start == std::string_view::npos || line.starts_with("#include")) return "";
    prose = line.substr(start);
  }
  std::ranges::transform(prose, prose.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return prose;
}

bool has_phrase(std::string_view prose, std::string_view phrase) {
  for (auto at = prose.find(phrase); at != std::string_view::npos; at = prose.find(phrase, at + 1)) {
    const auto end = at + phrase.size();
    if ((at == 0 || !is_word_character(prose[at - 1])) && (end == prose.size() || !is_word_character(prose[end])))
      return true;
  }
  return false;
}

TEST(Terms, RetiredWordsStayOut) {
  const auto terms = retired_terms();
  ASSERT_FALSE(terms.names.empty());
  std::size_t found = 0;
  const auto report = [&](const fs::path& path, std::size_t line, std::string_view term) {
    if (++found <= kMaxReported) ADD_FAILURE() << path.string() << ':' << line + 1 << ": " << term;
  };
  for (const auto& path : checked_files()) {
    const auto lines = lines_of(path);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      for (const auto& word : words_of(lines[i]))
        if (terms.names.contains(word)) report(path, i, word);
      const auto prose = prose_of(path, lines[i]);
      for (const auto& phrase : terms.phrases)
        if (has_phrase(prose, phrase)) report(path, i, phrase);
    }
  }
  EXPECT_EQ(found, 0U) << "docs/glossary.md has the words to use instead";
}

}  // namespace
}  // namespace relay
