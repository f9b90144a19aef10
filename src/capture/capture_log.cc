#include "capture/capture_log.h"

#include <sys/stat.h>

#include <algorithm>

#include "base/format.h"
#include "base/hash.h"

namespace relay::capture {
namespace {

constexpr std::string_view kLayout = "1\n";
constexpr std::size_t kMaxVersionBytes = 64;
constexpr std::size_t kMaxIdBytes = 128;  // a file name holds 255 bytes, and the suffix adds to the id
constexpr std::size_t kHashDigits = 12;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

std::string rotated_name(const std::string& name, int number) { return format("{}.{}", name, number); }

/// Ends a line that a full disk cut short, so that it damages no other. A write in progress of another program looks
/// the same; the result is then an empty line, which readers skip.
bool ends_in_mid_line(int fd, off_t size) {
  char last = '\n';
  return size > 0 && ::pread(fd, &last, 1, size - 1) == 1 && last != '\n';
}

}  // namespace

Result<std::string> home_directory(const std::optional<std::string>& relay_home,
                                   const std::optional<std::string>& user_home) {
  if (relay_home && !relay_home->empty()) {
    if (relay_home->starts_with('/')) return *relay_home;
    return fail(format("RELAY_HOME must be an absolute path, not {}", *relay_home));
  }
  if (!user_home || !user_home->starts_with('/'))
    return fail("neither RELAY_HOME nor HOME is an absolute path; set one of them");
  return *user_home + "/.relay";
}

std::string file_name_of(std::string_view session) {
  if (session.empty()) return "unknown.jsonl";
  std::string name{session.substr(0, kMaxIdBytes)};
  for (auto& c : name)
    if (!is_plain(c)) c = '_';
  if (name.starts_with('.')) name.front() = '_';
  if (name != session || name == "unknown") name += "-" + sha256_hex(session).substr(0, kHashDigits);
  return name + ".jsonl";
}

Result<CaptureLog> CaptureLog::open(const std::string& home) {
  auto root = RELAY_TRY(DiskDirectory::open(home));
  const auto version = RELAY_TRY(root->read("VERSION", kMaxVersionBytes));
  if (!version) RELAY_TRY(root->create_once("VERSION", kLayout));
  // Empty: another program has created the file and is writing it now.
  if (version && !version->empty() && *version != kLayout)
    return fail(format("{}/VERSION belongs to another version of agent-relay; set RELAY_HOME", home));
  return CaptureLog{RELAY_TRY(DiskDirectory::open_inside(home, {"events"}))};
}

Result<void> CaptureLog::append(const Record& record, WallMs now) {
  const auto name = file_name_of(record.source.session);
  auto fd = RELAY_TRY(events_->open_shared(name));
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) return fail_errno(format("cannot read {}", name));
  if (static_cast<std::size_t>(status.st_size) >= kMaxFileBytes) {
    RELAY_TRY(rotate(name));
    fd = RELAY_TRY(events_->open_shared(name));
    status.st_size = 0;
  }
  auto line = encode_line(record, now);
  if (ends_in_mid_line(fd.get(), status.st_size)) line.insert(line.begin(), '\n');
  ssize_t written = 0;
  do written = ::write(fd.get(), line.data(), line.size());
  while (written < 0 && errno == EINTR);
  if (written < 0) return fail_errno(format("cannot write {}/{}", events_->path(), name));
  if (static_cast<std::size_t>(written) < line.size())
    return fail(format("{}/{} accepted only part of a line; is the disk full?", events_->path(), name));
  return {};
}

/// When another program rotates at the same time, its rotation is enough: until then lines are appended to the full
/// file.
Result<void> CaptureLog::rotate(const std::string& name) {
  const auto lock = events_->lock(".rotating");
  if (!lock) return {};
  const auto fd = RELAY_TRY(events_->open_shared(name));
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) return fail_errno(format("cannot read {}", name));
  if (static_cast<std::size_t>(status.st_size) < kMaxFileBytes) return {};  // rotated by another program meanwhile
  for (int number = kMaxRotatedFiles; number > 1; --number) [[maybe_unused]]
    const auto moved = events_->replace(rotated_name(name, number), rotated_name(name, number - 1));  // may be absent
  return events_->replace(rotated_name(name, 1), name);
}

Result<void> CaptureLog::remove_old(WallMs now) {
  for (const auto& name : events_->files()) {  // oldest first
    struct stat status{};
    if (::lstat((events_->path() + "/" + name).c_str(), &status) != 0) continue;
    if (now - static_cast<WallMs>(status.st_mtim.tv_sec) * 1000 < kRetention.count()) break;
    RELAY_TRY(events_->remove(name));
  }
  return {};
}

}  // namespace relay::capture
