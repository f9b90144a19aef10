/// terminal_oracle write AGENTS CASES          makes the cases
/// terminal_oracle compare CASES SCREENS       compares xterm.js's screens with ours: text, wrapped rows, cursor
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

/// Why a difference is accepted: it is ours by choice. The reasons are printed with their counts.
struct Choices {
  bool resized_primary = false;  // xterm.js reflows and fetches rows back from the scrollback; we cut and add
  bool regrown = false;          // xterm.js shows again what a narrower screen had cut off
  bool rows_moved = false;       // IL, DL, SU, SD, RI: xterm.js leaves wrapped marks on rows whose line was torn apart
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
    Choices choices;
    std::size_t next = 0;
    bool differs = false;
    for (const auto& step : test.steps) {
      if (step.kind == 'o') {
        choices.rows_moved = choices.rows_moved || moves_rows(step.bytes);
        screen.feed(step.bytes);
      }
      if (step.kind == 'r') {
        choices.resized_primary = choices.resized_primary || !screen.alternate();
        choices.regrown = choices.regrown || step.size.columns > screen.size().columns;
        screen.resize(step.size);
      }
      if (step.kind != 's') continue;
      const auto& theirs = screens.at(next++).as_object();
      if (choices.resized_primary) {
        ++left_out_["screens after a resize of the primary screen: xterm.js reflows, we do not"];
        continue;
      }
      if (choices.regrown) {
        ++left_out_["screens after a screen grew wider: xterm.js shows again what was cut off before"];
        continue;
      }
      ++compared_;
      const auto difference = difference_of(screen, theirs, choices);
      if (difference.empty()) continue;
      if (!differs && ++shown_ <= 20)
        std::printf("%s, screen %zu: %s\n", test.name.c_str(), next - 1, difference.c_str());
      differs = true;
    }
    if (differs) ++failed_;
    ++cases_;
  }

  int finish() const {
    std::printf("%zu cases, %zu screens compared, %zu cases differ\n", cases_, compared_, failed_);
    for (const auto& [reason, count] : left_out_) std::printf("  by choice: %zu %s\n", count, reason.c_str());
    return failed_ == 0 ? 0 : 1;
  }

 private:
  std::string difference_of(const Screen& screen, const json::object& theirs, const Choices& choices) {
    const Grid& grid = screen.grid();
    for (int row = 0; row < grid.rows(); ++row) {
      const auto index = static_cast<std::size_t>(row);
      const std::string text = trimmed(std::string{theirs.at("rows").at(index).as_string()});
      if (grid.text(row).find("\u200d") != std::string::npos) {
        ++left_out_["rows with joined emoji: one cell to us and to the agents, several to xterm.js"];
        continue;
      }
      if (text != grid.text(row)) return format("row {}\n  theirs |{}|\n  ours   |{}|", row, text, grid.text(row));
    }
    const auto& cursor = theirs.at("cursor").as_array();
    const Cursor ours = screen.cursor();
    if (cursor.at(0).as_int64() != ours.row || cursor.at(1).as_int64() != ours.column)
      return format("cursor theirs {},{} ours {},{}", cursor.at(0).as_int64(), cursor.at(1).as_int64(), ours.row,
                    ours.column);
    for (int row = 0; row < grid.rows(); ++row)
      if (theirs.at("wrapped").at(static_cast<std::size_t>(row)).as_bool() != grid.wrapped(row)) {
        if (choices.rows_moved) {
          ++left_out_["screens whose wrapped marks differ after rows were moved: a line torn apart is no line to us"];
          return {};
        }
        return format("row {} wrapped: ours {}", row, grid.wrapped(row));
      }
    return {};
  }

  std::size_t cases_ = 0;
  std::size_t compared_ = 0;
  std::size_t failed_ = 0;
  std::size_t shown_ = 0;
  std::map<std::string, std::size_t> left_out_;
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
  std::string answer;
  while (std::getline(cases, line)) {
    if (!std::getline(screens, answer)) return fail("xterm.js showed fewer cases than it was given");
    const auto test = RELAY_TRY(case_from_json(line));
    const auto theirs = RELAY_TRY(parse_json_object(answer));
    comparison.compare(test, *array_member(theirs, "screens"));
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
