#include "daemon/event_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/format.h"
#include "base/json.h"

namespace relay::daemon {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxLineBytes = 2 << 20;  // more than any event has

/// Reads from `offset` on, at most `max_bytes`.
Result<std::string> read_at(int fd, std::uint64_t offset, std::uint64_t bytes) {
  std::string text(bytes, '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const auto count = ::pread(fd, text.data() + have, text.size() - have, static_cast<off_t>(offset + have));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail_errno("cannot read events.jsonl");
    if (count == 0) break;
    have += static_cast<std::size_t>(count);
  }
  text.resize(have);
  return text;
}

struct NumberedLine {
  records::EventSeq number = 0;
  WallMs at = 0;
};
NumberedLine parse_line_number(std::string_view line) {
  const auto event = parse_json_object(line);
  if (!event) return {};
  return {static_cast<records::EventSeq>(std::max<std::int64_t>(integer_member(*event, "_seq").value_or(0), 0)),
          integer_member(*event, "_ts").value_or(0)};
}

/// The whole lines of a file: their bytes, the first and the last. Empty for a missing file.
struct WholeLines {
  std::uint64_t bytes = 0;
  NumberedLine first, last;
};
Result<WholeLines> whole_lines(const std::string& path) {
  const UniqueFd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)};
  if (!file) return errno == ENOENT ? Result<WholeLines>{WholeLines{}} : fail_errno("cannot open " + path);
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return fail_errno("cannot stat " + path);
  const auto size = static_cast<std::uint64_t>(status.st_size);
  const auto from = size > kMaxLineBytes ? size - kMaxLineBytes : 0;
  const auto tail = RELAY_TRY(read_at(file.get(), from, size - from));
  const auto end = tail.rfind('\n');
  if (end == std::string::npos) return WholeLines{};
  const auto last = end == 0 ? 0 : tail.rfind('\n', end - 1) + 1;  // none before it: at 0
  const auto head = RELAY_TRY(read_at(file.get(), 0, std::min(size, kMaxLineBytes)));
  return WholeLines{from + end + 1, parse_line_number(std::string_view{head}.substr(0, head.find('\n'))),
                    parse_line_number(std::string_view{tail}.substr(last, end - last))};
}

Result<void> write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const auto count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail_errno("cannot write events.jsonl");
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

}  // namespace

Result<void> EventFile::open_at(std::uint64_t bytes) {
  file_ = UniqueFd{::open(path().c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR)};
  if (!file_) return fail_errno("cannot open " + path());
  if (::ftruncate(file_.get(), static_cast<off_t>(bytes)) != 0) return fail_errno("cannot truncate " + path());
  bytes_ = bytes;
  return {};
}

Result<records::EventSeq> EventFile::open(records::EventSeq newest) {
  const auto whole = RELAY_TRY(whole_lines(path()));
  RELAY_TRY(open_at(whole.bytes));
  first_ = whole.first.number;
  since_ = whole.first.at;
  // Rotated, and the next file not started yet: the log continues after the newest rotated file.
  if (whole.bytes == 0) {
    const auto before = RELAY_TRY(whole_lines(newest_rotated_file()));
    return before.last.number <= newest ? before.last.number : 0;
  }
  if (whole.last.number > 0 && first_ > 0 && whole.last.number <= newest) return whole.last.number;
  RELAY_TRY(rotate());  // of another store, or not an event file
  return records::EventSeq{0};
}

Result<void> EventFile::append(const std::vector<records::EncodedEvent>& events, WallMs now) {
  if (events.empty()) return {};
  if (!file_) RELAY_TRY(open_at(bytes_));
  if (bytes_ >= kMaxEventFileBytes || (first_ != 0 && since_ < now - kMaxEventFileAgeMs)) RELAY_TRY(rotate());
  std::string lines;
  for (const auto& event : events) lines += event.json + '\n';
  if (auto written = write_all(file_.get(), lines); !written) {
    file_.reset();  // half a line may be written: the file is reopened at the end of the last whole line
    return written;
  }
  if (first_ == 0) {
    first_ = events.front().number;
    since_ = now;
  }
  bytes_ += lines.size();
  return {};
}

Result<void> EventFile::rotate() {
  auto name = format("{}/events-{:012}.jsonl", directory_, first_);
  for (int n = 2; fs::exists(name); ++n) name = format("{}/events-{:012}-{}.jsonl", directory_, first_, n);
  if (::rename(path().c_str(), name.c_str()) != 0) return fail_errno("cannot rotate " + path());
  first_ = 0;
  return open_at(0);
}

std::vector<std::string> EventFile::rotated_files() const {
  std::vector<std::string> paths;
  std::error_code problem;
  for (const auto& entry : fs::directory_iterator{directory_, problem}) {
    const auto name = entry.path().filename().string();
    if (name.starts_with("events-") && name.ends_with(".jsonl")) paths.push_back(entry.path().string());
  }
  return paths;
}

/// By the number of its first event, which is in its name.
std::string EventFile::newest_rotated_file() const {
  const auto paths = rotated_files();
  const auto newest = std::ranges::max_element(paths);
  return newest == paths.end() ? std::string{} : *newest;
}

std::uint64_t messages_in_event_files(const std::string& directory) {
  const auto needle = format("\"type\":\"{}\"", records::kMessageExchanged);
  std::uint64_t count = 0;
  std::error_code problem;
  for (const auto& entry : fs::directory_iterator{directory, problem}) {
    const auto name = entry.path().filename().string();
    if (!name.starts_with("events") || !name.ends_with(".jsonl")) continue;
    std::ifstream file{entry.path()};
    for (std::string line; std::getline(file, line);)
      if (line.find(needle) != std::string::npos) ++count;
  }
  return count;
}

void EventFile::remove_before(WallMs time) {
  for (const auto& path : rotated_files()) {
    struct stat status{};
    if (::stat(path.c_str(), &status) == 0 && static_cast<WallMs>(status.st_mtime) * 1000 < time)
      ::unlink(path.c_str());
  }
}

}  // namespace relay::daemon
