#include "activity/diff.h"

#include <algorithm>
#include <vector>

#include "base/format.h"
#include "events/work_events.h"
#include "text/utf8.h"

namespace relay::activity {
namespace {

constexpr std::size_t kContext = 3;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

bool is_file_header(std::string_view line) {
  return line.starts_with("--- ") || line.starts_with("+++ ") || line.starts_with("Index: ") ||
         line.starts_with("=====") || line.starts_with("diff ") || line.starts_with("index ");
}

std::string cut(std::string text) {
  text.resize(text::truncate_utf8(text, events::kMaxContentBytes).size());
  return text;
}

}  // namespace

Diff diff_between(std::string_view before, std::string_view after) {
  if (before == after) return {};
  const auto old_lines = lines_of(before), new_lines = lines_of(after);
  const auto shorter = std::min(old_lines.size(), new_lines.size());
  std::size_t head = 0, tail = 0;
  while (head < shorter && old_lines[head] == new_lines[head]) ++head;
  while (tail < shorter - head && old_lines[old_lines.size() - 1 - tail] == new_lines[new_lines.size() - 1 - tail])
    ++tail;
  const auto start = head - std::min(head, kContext);
  const auto trailing = std::min(tail, kContext);
  const auto old_end = old_lines.size() - tail, new_end = new_lines.size() - tail;
  const auto place = [&](std::size_t end) {
    const auto count = end + trailing - start;
    return format("{},{}", count == 0 ? start : start + 1, count);
  };
  Diff diff{.text = format("@@ -{} +{} @@\n", place(old_end), place(new_end)),
            .lines_changed = static_cast<std::int64_t>((old_end - head) + (new_end - head))};
  const auto add = [&](char mark, const auto& lines, std::size_t from, std::size_t to) {
    for (; from < to && diff.text.size() <= events::kMaxContentBytes; ++from)
      (diff.text += mark).append(lines[from]).append("\n");
  };
  add(' ', old_lines, start, head);
  add('-', old_lines, head, old_end);
  add('+', new_lines, head, new_end);
  add(' ', old_lines, old_end, old_end + trailing);
  diff.text = cut(std::move(diff.text));
  return diff;
}

Diff diff_from(std::string_view unified) {
  Diff diff;
  bool in_hunk = false;
  for (const auto line : lines_of(unified)) {
    in_hunk = in_hunk || line.starts_with("@@");
    if (!in_hunk && is_file_header(line)) continue;
    if (in_hunk && (line.starts_with('+') || line.starts_with('-'))) ++diff.lines_changed;
    if (diff.text.size() <= events::kMaxContentBytes) diff.text.append(line).append("\n");
  }
  diff.text = cut(std::move(diff.text));
  return diff;
}

}  // namespace relay::activity
