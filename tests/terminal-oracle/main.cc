/// terminal_oracle write AGENTS CASES          writes the cases
/// terminal_oracle compare CASES SCREENS       compares the screens of xterm.js and src/terminal: text, wrapped rows, cursor
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "base/format.h"
#include "base/json.h"
#include "cases.h"
#include "terminal/screen.h"

namespace {

using namespace relay;
using namespace relay::terminal;
using namespace relay::terminal::oracle;

/// Intended differences; they are printed with their counts.
struct IntendedDifferences {
  bool resized_primary =
      false;                // xterm.js reflows and restores rows from the scrollback; src/terminal cuts and adds rows
  bool regrown = false;     // xterm.js restores text that a narrower screen cut off
  bool rows_moved = false;  // IL, DL, SU, SD, RI: xterm.js keeps wrapped marks on rows of a split line
};

bool moves_rows(std::string_view bytes) {
  for (std::size_t at = bytes.find('\x1b'); at != std::string_view::npos; at = bytes.find('\x1b', at + 1)) {
    std::size_t end = at + 1;
    if (end < bytes.size() && bytes[end] == 'M') return true;
    if (end >= bytes.size() || bytes[end] != '[') continue;
    do ++end;
    while (end < bytes.size() && (bytes[end] == ';' || (bytes[end] >= '0' && bytes[end] <= '9')));
    if (end < bytes.size() && std::string_view{"LMSTr"}.find(bytes[end]) != std::string_view::npos) return true;
  }
  return false;
}

std::string trimmed(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

class Comparison {
 public:
  void compare(const Case& test, const json::array& screens) {
    Screen screen{test.size};
    IntendedDifferences intended;
    std::size_t next = 0;
    bool differs = false;
    for (const auto& step : test.steps) {
      if (step.kind == 'o') {
        intended.rows_moved = intended.rows_moved || moves_rows(step.bytes);
        screen.feed(step.bytes);
      }
      if (step.kind == 'r') {
        intended.resized_primary = intended.resized_primary || !screen.alternate();
        intended.regrown = intended.regrown || step.size.columns > screen.size().columns;
        screen.resize(step.size);
      }
      if (step.kind != 's') continue;
      const auto& expected = screens.at(next++).as_object();
      if (intended.resized_primary) {
        ++skipped_["screens after a resize of the primary screen: only xterm.js reflows"];
        continue;
      }
      if (intended.regrown) {
        ++skipped_["screens after a screen grew wider: xterm.js restores text that was cut off"];
        continue;
      }
      ++compared_;
      const auto difference = difference_of(screen, expected, intended);
      if (difference.empty()) continue;
      if (!differs && ++printed_ <= 20)
        std::printf("%s, screen %zu: %s\n", test.name.c_str(), next - 1, difference.c_str());
      differs = true;
    }
    if (differs) ++failed_;
    ++cases_;
  }

  int finish() const {
    std::printf("%zu cases, %zu screens compared, %zu cases differ\n", cases_, compared_, failed_);
    for (const auto& [reason, count] : skipped_) std::printf("  intended: %zu %s\n", count, reason.c_str());
    return failed_ == 0 ? 0 : 1;
  }

 private:
  std::string difference_of(const Screen& screen, const json::object& expected, const IntendedDifferences& intended) {
    const Grid& grid = screen.grid();
    for (int row = 0; row < grid.rows(); ++row) {
      const auto index = static_cast<std::size_t>(row);
      const std::string text = trimmed(std::string{expected.at("rows").at(index).as_string()});
      if (grid.text(row).find("\u200d") != std::string::npos) {
        ++skipped_["rows with joined emoji: several cells in xterm.js, one here and in the agents"];
        continue;
      }
      if (text != grid.text(row)) return format("row {}\n  xterm.js |{}|\n  relay    |{}|", row, text, grid.text(row));
    }
    const auto& cursor = expected.at("cursor").as_array();
    const Cursor actual = screen.cursor();
    if (cursor.at(0).as_int64() != actual.row || cursor.at(1).as_int64() != actual.column)
      return format("cursor: xterm.js {},{}, relay {},{}", cursor.at(0).as_int64(), cursor.at(1).as_int64(), actual.row,
                    actual.column);
    for (int row = 0; row < grid.rows(); ++row)
      if (expected.at("wrapped").at(static_cast<std::size_t>(row)).as_bool() != grid.wrapped(row)) {
        if (intended.rows_moved) {
          ++skipped_
              ["screens whose wrapped marks differ after rows were moved: xterm.js keeps the marks of split lines"];
          return {};
        }
        return format("row {} wrapped: relay {}", row, grid.wrapped(row));
      }
    return {};
  }

  std::size_t cases_ = 0;
  std::size_t compared_ = 0;
  std::size_t failed_ = 0;
  std::size_t printed_ = 0;
  std::map<std::string, std::size_t> skipped_;
};

Result<int> write(const std::string& agents, const std::string& path) {
  std::ofstream out{path};
  for (const auto& test : RELAY_TRY(make_cases(agents))) out << to_json(test) << '\n';
  return 0;
}

Result<int> compare(const std::string& cases_path, const std::string& screens_path) {
  std::ifstream cases{cases_path};
  std::ifstream screens{screens_path};
  Comparison comparison;
  std::string line;
  std::string response;
  while (std::getline(cases, line)) {
    if (!std::getline(screens, response)) return fail("xterm.js returned fewer cases than it received");
    const auto test = RELAY_TRY(case_from_json(line));
    const auto expected = RELAY_TRY(parse_json_object(response));
    comparison.compare(test, *array_member(expected, "screens"));
  }
  return comparison.finish();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc == 4 ? argv[1] : "";
  if (mode != "write" && mode != "compare") {
    std::fputs("usage: terminal_oracle write AGENTS CASES | compare CASES SCREENS\n", stderr);
    return 2;
  }
  const auto result = mode == "write" ? write(argv[2], argv[3]) : compare(argv[2], argv[3]);
  if (!result) std::fprintf(stderr, "%s\n", result.error().message().c_str());
  return result.value_or(1);
}
