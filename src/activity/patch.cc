#include "activity/patch.h"

#include <optional>

namespace relay::activity {
namespace {

using transcripts::Change;
using transcripts::FileChange;

std::optional<std::string_view> after(std::string_view line, std::string_view mark) {
  if (!line.starts_with(mark)) return std::nullopt;
  line.remove_prefix(mark.size());
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
  return line;
}

std::optional<FileChange> parse_header(std::string_view line) {
  if (const auto path = after(line, "*** Add File: "))
    return FileChange{.change = Change::Created, .path = std::string{*path}};
  if (const auto path = after(line, "*** Update File: ")) return FileChange{.path = std::string{*path}};
  if (const auto path = after(line, "*** Delete File: "))
    return FileChange{.change = Change::Deleted, .path = std::string{*path}};
  return std::nullopt;
}

}  // namespace

std::vector<FileChange> files_in_patch(std::string_view patch) {
  std::vector<FileChange> files;
  bool inside = false;
  while (!patch.empty()) {
    const auto end = patch.find('\n');
    const auto line = patch.substr(0, end);
    patch.remove_prefix(end == std::string_view::npos ? patch.size() : end + 1);
    if (!inside) {
      inside = line.starts_with("*** Begin Patch");
    } else if (line.starts_with("*** End Patch")) {
      break;
    } else if (auto file = parse_header(line)) {
      if (files.size() == kMaxPatchedFiles) break;
      files.push_back(std::move(*file));
    } else if (files.empty() || line.starts_with("*** End of File")) {
      continue;
    } else if (const auto to = after(line, "*** Move to: ")) {
      files.back().moved_to = *to;
    } else if (files.back().change == Change::Created) {
      if (line.starts_with('+')) files.back().content.append(line.substr(1)).append("\n");
    } else if (files.back().change == Change::Edited) {
      if (files.back().diff.empty() && !line.starts_with("@@")) files.back().diff = "@@\n";
      files.back().diff.append(line).append("\n");
    }
  }
  return files;
}

}  // namespace relay::activity
