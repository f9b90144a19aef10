#include "store/sqlite_files.h"

#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include "base/format.h"
#include "store/message_store.h"

namespace relay::store {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxAsideNames = 1'000;  // names tried within one second
constexpr int kCopyBytes = 64 * 1024;
constexpr const char* kSuspectSuffix = "-suspect";
constexpr const char* kLogSuffixes[] = {"-wal", "-shm", "-journal"};

sqlite3_vfs* find(const std::string& vfs) { return sqlite3_vfs_find(vfs.empty() ? nullptr : vfs.c_str()); }

bool exists(const std::string& path, const std::string& vfs) {
  std::error_code code;
  if (vfs.empty()) return fs::exists(path, code);  // SQLite's own answer overlooks empty files
  auto* system = find(vfs);
  int found = 0;
  return system != nullptr && system->xAccess(system, path.c_str(), SQLITE_ACCESS_EXISTS, &found) == SQLITE_OK &&
         found != 0;
}

/// An open file of a SQLite file system; closes itself.
class VfsFile {
 public:
  static std::unique_ptr<VfsFile> open(const std::string& path, const std::string& vfs, int flags) {
    auto* system = find(vfs);
    if (system == nullptr) return nullptr;
    std::unique_ptr<VfsFile> file{new VfsFile{path, static_cast<std::size_t>(system->szOsFile)}};
    int got = 0;
    if (system->xOpen(system, file->name_, file->get(), flags | SQLITE_OPEN_MAIN_DB, &got) != SQLITE_OK) return nullptr;
    return file;
  }
  ~VfsFile() {
    if (get()->pMethods != nullptr) get()->pMethods->xClose(get());
    sqlite3_free_filename(name_);
  }
  VfsFile(const VfsFile&) = delete;
  VfsFile& operator=(const VfsFile&) = delete;

  sqlite3_file* get() { return reinterpret_cast<sqlite3_file*>(memory_.data()); }
  sqlite3_int64 size() {
    sqlite3_int64 bytes = 0;
    return get()->pMethods->xFileSize(get(), &bytes) == SQLITE_OK ? bytes : 0;
  }

 private:
  // SQLite file systems expect names it allocated itself (parameters follow the name in memory).
  VfsFile(const std::string& path, std::size_t bytes)
      : memory_(bytes / sizeof(std::max_align_t) + 1),
        name_{sqlite3_create_filename(path.c_str(), "", "", 0, nullptr)} {
    get()->pMethods = nullptr;
  }

  std::vector<std::max_align_t> memory_;
  sqlite3_filename name_;
};

// A SQLite file system cannot rename, so ours (tests, simulation) copy, sync and delete.
bool copy_then_delete(const std::string& from, const std::string& to, const std::string& vfs) {
  auto source = VfsFile::open(from, vfs, SQLITE_OPEN_READONLY);
  auto target = VfsFile::open(to, vfs, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  if (source == nullptr || target == nullptr) return false;
  std::vector<char> buffer(kCopyBytes);
  const auto size = source->size();
  for (sqlite3_int64 at = 0; at < size; at += kCopyBytes) {
    const int count = static_cast<int>(std::min<sqlite3_int64>(kCopyBytes, size - at));
    if (source->get()->pMethods->xRead(source->get(), buffer.data(), count, at) != SQLITE_OK) return false;
    if (target->get()->pMethods->xWrite(target->get(), buffer.data(), count, at) != SQLITE_OK) return false;
  }
  if (target->get()->pMethods->xSync(target->get(), SQLITE_SYNC_FULL) != SQLITE_OK) return false;
  source.reset();
  auto* system = find(vfs);
  return system->xDelete(system, from.c_str(), 1) == SQLITE_OK;
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
  auto file = VfsFile::open(path, vfs, SQLITE_OPEN_READONLY);
  return file == nullptr ? 0 : static_cast<std::uint64_t>(file->size());
}

bool looks_like_database(const std::string& path, const std::string& vfs) {
  static constexpr std::string_view kMagic{"SQLite format 3", 16};  // with its closing zero
  if (file_bytes(path, vfs) == 0) return file_bytes(path + "-wal", vfs) == 0;
  auto file = VfsFile::open(path, vfs, SQLITE_OPEN_READONLY);
  if (file == nullptr) return true;  // not readable: SQLite will say why
  char begin[kMagic.size()] = {};
  const int result = file->get()->pMethods->xRead(file->get(), begin, sizeof begin, 0);
  return result != SQLITE_OK ? result != SQLITE_IOERR_SHORT_READ : std::string_view{begin, sizeof begin} == kMagic;
}

void keep_private(const std::string& path, const std::string& vfs) {
  if (!vfs.empty()) return;
  std::error_code code;
  // An empty file is a valid new database; SQLite gives its log the same permissions. What fails here fails again,
  // with its reason, when SQLite opens the file.
  if (!fs::exists(path, code)) std::ofstream{path, std::ios::app};
  const auto owner_only = fs::perms::owner_read | fs::perms::owner_write;
  const auto status = fs::status(path, code);
  const auto others = fs::perms::group_all | fs::perms::others_all;
  if (!code && fs::is_regular_file(status) && (status.permissions() & others) != fs::perms::none) {
    fs::permissions(path, owner_only, code);
  }
}

Result<std::string> set_aside(const std::string& path, const std::string& vfs, WallMs now) {
  const std::string wanted = format("{}.damaged-{}", path, utc_name(now));
  std::string name = wanted;
  for (int tried = 2; !is_free(name, vfs); ++tried) {
    if (tried > kMaxAsideNames)
      return fail(Errc::Failed,
                  format("cannot set {} aside: {} and its like exist already; move them away", path, wanted));
    name = format("{}-{}", wanted, tried);
  }
  for (const char* suffix : kLogSuffixes) {
    if (!move(path + suffix, name + suffix, vfs)) {
      return fail(Errc::ReadOnly, format("cannot set {}{} aside: allow writing to its directory", path, suffix));
    }
  }
  if (!move(path, name, vfs))
    return fail(Errc::ReadOnly, format("cannot set {} aside: allow writing to its directory", path));
  return name;
}

void mark_suspect(const std::string& path, const std::string& vfs) {
  if (!vfs.empty()) {
    VfsFile::open(path + kSuspectSuffix, vfs, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    return;
  }
  keep_private(path + kSuspectSuffix, vfs);
}

bool is_suspect(const std::string& path, const std::string& vfs) { return exists(path + kSuspectSuffix, vfs); }

void clear_suspect(const std::string& path, const std::string& vfs) {
  if (auto* system = find(vfs); system != nullptr && is_suspect(path, vfs)) {
    system->xDelete(system, (path + kSuspectSuffix).c_str(), 0);
  }
}

}  // namespace relay::store
