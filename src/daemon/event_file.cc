#include "daemon/event_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/format.h"
#include "base/json.h"

namespace relay::daemon {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxLineBytes = 2 << 20;  // more than any event has

/// What stands from `offset` on, at most so much.
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

struct Numbered {
  records::EventNumber number = 0;
  WallMs at = 0;
};
Numbered numbered(std::string_view line) {
  const auto event = parse_json_object(line);
  if (!event) return {};
  return {static_cast<records::EventNumber>(std::max<std::int64_t>(integer_member(*event, "_seq").value_or(0), 0)),
          integer_member(*event, "_ts").value_or(0)};
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

Result<records::EventNumber> EventFile::open(records::EventNumber newest) {
  file_ = UniqueFd{::open(path().c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR)};
  if (!file_) return fail_errno("cannot open " + path());
  struct stat status{};
  if (::fstat(file_.get(), &status) != 0) return fail_errno("cannot look at " + path());
  const auto size = static_cast<std::uint64_t>(status.st_size);
  const auto from = size > kMaxLineBytes ? size - kMaxLineBytes : 0;
  const auto tail = RELAY_TRY(read_at(file_.get(), from, size - from));
  const auto end = tail.rfind('\n');
  bytes_ = end == std::string::npos ? 0 : from + end + 1;
  if (bytes_ < size && ::ftruncate(file_.get(), static_cast<off_t>(bytes_)) != 0)
    return fail_errno("cannot cut " + path());
  first_ = 0;
  if (bytes_ == 0) return records::EventNumber{0};
  const auto begin = end == 0 ? std::string::npos : tail.rfind('\n', end - 1);
  const auto last = numbered(std::string_view{tail}.substr(begin == std::string::npos ? 0 : begin + 1,
                                                           end - (begin == std::string::npos ? 0 : begin + 1)));
  const auto head = RELAY_TRY(read_at(file_.get(), 0, std::min(bytes_, kMaxLineBytes)));
  const auto first = numbered(std::string_view{head}.substr(0, head.find('\n')));
  first_ = first.number;
  since_ = first.at;
  if (last.number > 0 && first_ > 0 && last.number <= newest) return last.number;
  RELAY_TRY(set_aside());  // of another store, or nothing of ours
  return records::EventNumber{0};
}

Result<void> EventFile::append(const std::vector<records::ToldEvent>& events, WallMs now) {
  if (events.empty()) return {};
  if (bytes_ >= kMaxEventFileBytes || (first_ != 0 && now - since_ > kMaxEventFileAgeMs)) RELAY_TRY(set_aside());
  std::string lines;
  for (const auto& event : events) lines += event.json + '\n';
  auto written = write_all(file_.get(), lines);
  if (!written) {  // half a line may stand there; the next opening would cut it off, and so do we
    if (::ftruncate(file_.get(), static_cast<off_t>(bytes_)) != 0) file_.reset();
    return written;
  }
  if (first_ == 0) {
    first_ = events.front().number;
    since_ = now;
  }
  bytes_ += lines.size();
  return {};
}

Result<void> EventFile::set_aside() {
  auto name = format("{}/events-{:012}.jsonl", directory_, first_);
  for (int n = 2; fs::exists(name); ++n) name = format("{}/events-{:012}-{}.jsonl", directory_, first_, n);
  if (::rename(path().c_str(), name.c_str()) != 0) return fail_errno("cannot set aside " + path());
  file_ = UniqueFd{::open(path().c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR)};
  if (!file_) return fail_errno("cannot open " + path());
  bytes_ = 0;
  first_ = 0;
  return {};
}

void EventFile::forget_before(WallMs time) {
  std::error_code problem;
  for (const auto& entry : fs::directory_iterator{directory_, problem}) {
    const auto name = entry.path().filename().string();
    if (!name.starts_with("events-") || !name.ends_with(".jsonl")) continue;
    struct stat status{};
    if (::stat(entry.path().c_str(), &status) == 0 && static_cast<WallMs>(status.st_mtime) * 1000 < time)
      fs::remove(entry.path(), problem);
  }
}

}  // namespace relay::daemon
