#include "store/sqlite/files.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/format.h"
#include "store/message_store.h"
#include "store/sqlite/vfs_file.h"

namespace relay::store {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxQuarantineNames = 1'000;  // names with the same second
constexpr std::size_t kCopyBytes = 64 * 1024;
constexpr const char* kSuspectSuffix = "-suspect";
constexpr const char* kLogSuffixes[] = {"-wal", "-shm", "-journal"};

bool exists(const std::string& path, const std::string& vfs) {
  std::error_code code;
  if (vfs.empty()) return fs::exists(path, code);  // SQLite's xAccess ignores empty files
  return file_exists(path, vfs);
}

// A SQLite file system cannot rename; in those of tests and simulation a file is copied, synced and deleted.
bool copy_then_delete(const std::string& from, const std::string& to, const std::string& vfs) {
  return copy_file(from, to, vfs) && delete_file(from, vfs);
}

/// Deletes the oldest quarantined files beyond kMaxQuarantined, each with its log.
void remove_oldest_quarantined(const std::string& path) {
  const fs::path whole{path};
  const auto prefix = whole.filename().string() + ".damaged-";
  std::vector<std::pair<fs::file_time_type, fs::path>> quarantined;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator{whole.parent_path(), code}) {
    const auto name = entry.path().filename().string();
    const bool is_log = std::ranges::any_of(kLogSuffixes, [&](const char* suffix) { return name.ends_with(suffix); });
    if (name.starts_with(prefix) && !is_log) quarantined.emplace_back(entry.last_write_time(code), entry.path());
  }
  std::ranges::sort(quarantined);
  for (std::size_t at = 0; at + kMaxQuarantined < quarantined.size(); ++at) {
    for (const char* suffix : kLogSuffixes) fs::remove(quarantined[at].second.string() + suffix, code);
    fs::remove(quarantined[at].second, code);
  }
}

bool move(const std::string& from, const std::string& to, const std::string& vfs) {
  if (!exists(from, vfs)) return true;
  if (!vfs.empty()) return copy_then_delete(from, to, vfs);
  std::error_code code;
  fs::rename(from, to, code);
  return !code;
}

std::string utc_name(WallMs now) {
  const std::chrono::sys_time<std::chrono::milliseconds> time{std::chrono::milliseconds{now}};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{std::chrono::floor<std::chrono::seconds>(time - day)};
  return format("{:04}{:02}{:02}T{:02}{:02}{:02}Z", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), clock.hours().count(), clock.minutes().count(),
                clock.seconds().count());
}

bool is_free(const std::string& name, const std::string& vfs) {
  return !exists(name, vfs) && std::none_of(std::begin(kLogSuffixes), std::end(kLogSuffixes),
                                            [&](const char* suffix) { return exists(name + suffix, vfs); });
}

}  // namespace

std::uint64_t file_bytes(const std::string& path, const std::string& vfs) {
  if (vfs.empty()) {
    std::error_code code;
    const auto bytes = fs::file_size(path, code);
    return code ? 0 : bytes;
  }
  if (!exists(path, vfs)) return 0;
  const auto file = VfsFile::open(path, vfs, VfsFile::Mode::Read);
  return file ? (*file)->size() : 0;
}

bool looks_like_database(const std::string& path, const std::string& vfs) {
  static constexpr std::string_view kMagic{"SQLite format 3", 16};  // with its terminating zero
  if (file_bytes(path, vfs) == 0) return file_bytes(path + "-wal", vfs) == 0;
  const auto file = VfsFile::open(path, vfs, VfsFile::Mode::Read);
  if (!file) return true;  // not readable: SQLite reports the reason
  std::string begin(kMagic.size(), '\0');
  const auto count = (*file)->read(0, begin);
  return !count || (*count == begin.size() && begin == kMagic);
}

void restrict_permissions(const std::string& path, const std::string& vfs) {
  if (!vfs.empty()) return;
  std::error_code code;
  // An empty file is a valid new database; SQLite gives its log the same permissions. A failure here repeats, with its
  // reason, when SQLite opens the file.
  if (!fs::exists(path, code)) std::ofstream{path, std::ios::app};
  const auto owner_only = fs::perms::owner_read | fs::perms::owner_write;
  const auto status = fs::status(path, code);
  const auto others = fs::perms::group_all | fs::perms::others_all;
  if (!code && fs::is_regular_file(status) && (status.permissions() & others) != fs::perms::none) {
    fs::permissions(path, owner_only, code);
  }
}

Result<std::string> quarantine(const std::string& path, const std::string& vfs, WallMs now) {
  const std::string wanted = format("{}.damaged-{}", path, utc_name(now));
  std::string name = wanted;
  for (int tried = 2; !is_free(name, vfs); ++tried) {
    if (tried > kMaxQuarantineNames)
      return fail(Errc::Failed,
                  format("cannot rename {}: {} and its numbered variants exist; move them away", path, wanted));
    name = format("{}-{}", wanted, tried);
  }
  for (const char* suffix : kLogSuffixes) {
    if (!move(path + suffix, name + suffix, vfs)) {
      return fail(Errc::ReadOnly, format("cannot rename {}{}: allow writing to its directory", path, suffix));
    }
  }
  if (!move(path, name, vfs))
    return fail(Errc::ReadOnly, format("cannot rename {}: allow writing to its directory", path));
  if (vfs.empty()) remove_oldest_quarantined(path);
  return name;
}

Result<void> copy_file(const std::string& from, const std::string& to, const std::string& vfs) {
  const auto source = RELAY_TRY(VfsFile::open(from, vfs, VfsFile::Mode::Read));
  restrict_permissions(to, vfs);
  const auto target = RELAY_TRY(VfsFile::open(to, vfs, VfsFile::Mode::Write));
  std::string buffer(kCopyBytes, '\0');
  for (std::uint64_t at = 0; at < source->size(); at += kCopyBytes) {
    const auto count = RELAY_TRY(source->read(at, buffer));
    RELAY_TRY(target->write(at, std::string_view{buffer}.substr(0, count)));
  }
  return target->sync();
}

void remove_database(const std::string& path, const std::string& vfs) {
  for (const char* suffix : kLogSuffixes)
    if (exists(path + suffix, vfs)) delete_file(path + suffix, vfs);
  for (const auto& name : {path + kSuspectSuffix, path})
    if (exists(name, vfs)) delete_file(name, vfs);
}

void mark_suspect(const std::string& path, const std::string& vfs) {
  if (!vfs.empty()) {
    std::ignore = VfsFile::open(path + kSuspectSuffix, vfs, VfsFile::Mode::Write);
    return;
  }
  restrict_permissions(path + kSuspectSuffix, vfs);
}

bool is_suspect(const std::string& path, const std::string& vfs) { return exists(path + kSuspectSuffix, vfs); }

void clear_suspect(const std::string& path, const std::string& vfs) {
  if (is_suspect(path, vfs)) delete_file(path + kSuspectSuffix, vfs);
}

}  // namespace relay::store
