// Compares every #include in src/ with the code map of ARCHITECTURE.md: a folder includes only the folders that it depends on,
// directly or through others. Test files and testing/ folders may also include a folder that does not depend on theirs. Also
// checks that the functions of its table of decisions exist.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"

namespace relay {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream file{path};
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(std::move(line));
  return lines;
}

std::vector<std::string> cells_of(const std::string& row) {
  std::vector<std::string> cells;
  std::istringstream text{row};
  for (std::string cell; std::getline(text, cell, '|');) {
    const auto first = cell.find_first_not_of(' ');
    cells.push_back(first == std::string::npos ? "" : cell.substr(first, cell.find_last_not_of(' ') - first + 1));
  }
  return cells;
}

/// The rows "| `src/x` | … | a, b |" of the code map.
std::map<std::string, Names> code_map() {
  std::map<std::string, Names> dependencies;
  Names above;
  for (const auto& line : lines_of(fs::path{RELAY_ROOT} / "ARCHITECTURE.md")) {
    if (!line.starts_with("| `src/")) continue;
    const auto cells = cells_of(line);
    EXPECT_EQ(cells.size(), 4U) << line;
    std::string folder = cells.at(1).substr(5);
    folder.pop_back();
    Names& names = dependencies[folder];
    if (cells.back() == "all above") {
      names = above;
    } else if (cells.back() != "none") {
      std::istringstream list{cells.back()};
      for (std::string name; std::getline(list, name, ',');) names.insert(name.substr(name.find_first_not_of(' ')));
    }
    above.insert(folder);
  }
  return dependencies;
}

Names reachable_from(const std::map<std::string, Names>& dependencies, const std::string& folder) {
  Names reached;
  std::vector<std::string> open{folder};
  while (!open.empty()) {
    const std::string next = open.back();
    open.pop_back();
    if (!reached.insert(next).second) continue;
    const auto row = dependencies.find(next);
    if (row != dependencies.end()) open.insert(open.end(), row->second.begin(), row->second.end());
  }
  return reached;
}

std::optional<std::string> included_folder(std::string_view line) {
  constexpr std::string_view kInclude = "#include \"";
  if (!line.starts_with(kInclude)) return std::nullopt;
  line.remove_prefix(kInclude.size());
  const auto slash = line.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  return std::string{line.substr(0, slash)};
}

TEST(Layers, CodeMapNamesEveryFolder) {
  const auto dependencies = code_map();
  for (const auto& entry : fs::directory_iterator{fs::path{RELAY_ROOT} / "src"})
    if (entry.is_directory()) { EXPECT_TRUE(dependencies.contains(entry.path().filename())) << entry.path(); }
}

TEST(Layers, CodeMapHasNoCycles) {
  const auto dependencies = code_map();
  for (const auto& [folder, names] : dependencies)
    for (const auto& name : names)
      EXPECT_FALSE(reachable_from(dependencies, name).contains(folder))
          << folder << " and " << name << " depend on each other";
}

bool is_test_file(const fs::path& path) {
  return path.stem().string().ends_with("_test") || path.string().find("/testing/") != std::string::npos;
}

TEST(Layers, EveryIncludeFollowsTheCodeMap) {
  const auto dependencies = code_map();
  std::size_t includes = 0;
  for (const auto& [folder, names] : dependencies) {
    const Names allowed = reachable_from(dependencies, folder);
    for (const auto& entry : fs::recursive_directory_iterator{fs::path{RELAY_ROOT} / "src" / folder}) {
      const auto extension = entry.path().extension();
      if (extension != ".h" && extension != ".cc") continue;
      for (const auto& line : lines_of(entry.path())) {
        const auto included = included_folder(line);
        if (!included || !dependencies.contains(*included)) continue;
        ++includes;
        if (is_test_file(entry.path()) && !reachable_from(dependencies, *included).contains(folder)) continue;
        EXPECT_TRUE(allowed.contains(*included))
            << entry.path().string() << ": " << line << "; ARCHITECTURE.md does not list " << *included
            << " as a dependency of " << folder;
      }
    }
  }
  EXPECT_GT(includes, 1'000U) << "no sources found";
}

/// The pairs "`function` in `file`" of the table of decisions.
std::vector<std::pair<std::string, std::string>> decisions() {
  static const std::regex kPair{"`([A-Za-z_:]+)` in `(src/[a-z0-9_/]+\\.cc)`"};
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& line : lines_of(fs::path{RELAY_ROOT} / "ARCHITECTURE.md"))
    for (std::sregex_iterator at{line.begin(), line.end(), kPair}; at != std::sregex_iterator{}; ++at)
      all.emplace_back((*at)[1], (*at)[2]);
  return all;
}

TEST(Layers, FunctionsOfTheDecisionTableExist) {
  const auto all = decisions();
  EXPECT_GE(all.size(), 15U);
  for (const auto& [function, file] : all) {
    bool found = false;
    for (const auto& line : lines_of(fs::path{RELAY_ROOT} / file))
      found = found || (line.find(function + "(") != std::string::npos && !line.ends_with(";"));
    EXPECT_TRUE(found) << function << " is not defined in " << file;
  }
}

}  // namespace
}  // namespace relay
