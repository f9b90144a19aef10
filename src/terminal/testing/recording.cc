#include "terminal/testing/recording.h"

#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/format.h"
#include "base/json.h"

namespace relay::terminal::testing {
namespace {

/// The text of a file, compressed or not.
Result<std::string> read_file(const std::filesystem::path& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return fail_errno(format("cannot open {}", path.string()));
  std::string text;
  char block[65536];
  int count = 0;
  while ((count = gzread(file, block, sizeof block)) > 0) text.append(block, static_cast<std::size_t>(count));
  gzclose(file);
  if (count < 0) return fail(format("cannot read {}: broken compression", path.string()));
  return text;
}

int int_of(const json::object& object, std::string_view name) {
  return static_cast<int>(integer_member(object, name).value_or(0));
}

std::vector<RecordedScreen> screens_of(const json::object& meta) {
  std::vector<RecordedScreen> screens;
  const auto* list = array_member(meta, "screens");
  if (list == nullptr) return screens;
  for (const auto& item : *list) {
    const auto& object = item.as_object();
    RecordedScreen screen{.seconds = number_member(object, "t").value_or(0)};
    screen.label = string_member(object, "label").value_or("");
    for (const auto& line : *array_member(object, "lines")) screen.lines.emplace_back(line.as_string());
    const auto& cursor = *array_member(object, "cursor");
    screen.cursor = {static_cast<int>(cursor.at(1).as_int64()), static_cast<int>(cursor.at(0).as_int64())};
    screens.push_back(std::move(screen));
  }
  return screens;
}

}  // namespace

std::string Recording::output() const {
  std::string bytes;
  for (const auto& event : events)
    if (event.kind == 'o') bytes += event.data;
  return bytes;
}

std::vector<std::filesystem::path> recordings_below(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> casts;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{folder})
    if (entry.path().string().ends_with(".cast.gz")) casts.push_back(entry.path());
  std::sort(casts.begin(), casts.end());
  return casts;
}

Result<Recording> read_recording(const std::filesystem::path& cast) {
  const std::string text = RELAY_TRY(read_file(cast));
  Recording recording;
  recording.name = cast.string();
  std::string_view rest = text;
  bool header = true;
  while (!rest.empty()) {
    const auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (line.empty()) continue;
    const json::value value = RELAY_TRY(parse_json(line));
    if (header) {
      recording.size = {int_of(value.as_object(), "width"), int_of(value.as_object(), "height")};
      header = false;
      continue;
    }
    const auto& event = value.as_array();
    recording.events.push_back({.seconds = event.at(0).to_number<double>(),
                                .kind = event.at(1).as_string().at(0),
                                .data = std::string{event.at(2).as_string()}});
  }
  std::string meta_path = cast.string();
  meta_path.replace(meta_path.rfind(".cast"), 5, ".meta.json");
  const std::string meta_text = RELAY_TRY(read_file(meta_path));
  recording.meta = RELAY_TRY(parse_json_object(meta_text));
  recording.screens = screens_of(recording.meta);
  return recording;
}

Size size_of(const std::string& text) {
  const auto cross = text.find('x');
  Size size;
  std::from_chars(text.data(), text.data() + cross, size.columns);
  std::from_chars(text.data() + cross + 1, text.data() + text.size(), size.rows);
  return size;
}

}  // namespace relay::terminal::testing
