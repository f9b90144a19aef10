#include "store/testing/sim_disk.h"

#include <sqlite3.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <new>

#include "base/format.h"

namespace relay::store {
namespace {

constexpr int kMaxPathBytes = 512;
constexpr int kDeviceSectorBytes = 4096;           // the same as the machine's own file system
constexpr sqlite3_int64 kNow = 210866803200000LL;  // Julian day of 1970-01-01, in milliseconds

/// A write or a truncation that no sync has covered yet.
struct InFlight {
  std::size_t offset = 0;  // of the write; the new size of a truncation
  std::string bytes;
  bool truncates = false;
};

struct File {
  std::string current;  // the content that readers get
  std::string durable;  // the content that survives every power cut
  std::vector<InFlight> in_flight;

  static void apply(std::string& target, std::size_t offset, std::string_view bytes) {
    if (target.size() < offset + bytes.size()) target.resize(offset + bytes.size());
    bytes.copy(target.data() + offset, bytes.size());
  }

  void sync() {
    for (const auto& change : in_flight) {
      if (change.truncates) {
        durable.resize(change.offset);
      } else {
        apply(durable, change.offset, change.bytes);
      }
    }
    in_flight.clear();
  }

  void lose_power(Random& random) {
    for (const auto& change : in_flight) {
      const auto outcome = random.below(3);  // survives, dropped, torn
      if (outcome == 1) continue;
      if (change.truncates) {
        if (change.offset < durable.size()) durable.resize(change.offset);
        continue;
      }
      for (std::size_t at = 0; at < change.bytes.size();) {
        const auto into_sector = (change.offset + at) % SimDisk::kSectorBytes;
        const auto count = std::min(change.bytes.size() - at, SimDisk::kSectorBytes - into_sector);
        if (outcome == 0 || random.below(2) == 0)
          apply(durable, change.offset + at, std::string_view{change.bytes}.substr(at, count));
        at += count;
      }
    }
    in_flight.clear();
    current = durable;
  }
};

}  // namespace

class SimDisk::Files {
 public:
  std::mutex mutex;  // guards all below
  std::map<std::string, std::shared_ptr<File>> named;
  std::uint64_t generation = 0;
  std::uint64_t failing_writes = 0;
  std::uint64_t failing_syncs = 0;
  std::uint64_t syncs = 0;
  std::optional<std::uint64_t> operations_left;  // until the process is killed
  bool full = false;
  bool read_only = false;
  std::string name;
  sqlite3_vfs vfs{};
};

namespace {

using Files = SimDisk::Files;

struct OpenFile {
  sqlite3_file base{};  // first: SQLite uses only this part
  Files* files = nullptr;
  std::shared_ptr<File> file;
  std::uint64_t generation = 0;
};

OpenFile& self(sqlite3_file* file) { return *reinterpret_cast<OpenFile*>(file); }

/// Counts an operation; false when the process is killed before it.
bool survives(Files& files) {
  if (!files.operations_left) return true;
  if (*files.operations_left > 0) {
    --*files.operations_left;
    return true;
  }
  files.operations_left.reset();
  ++files.generation;
  return false;
}

/// Runs with the lock held, and only while the handle is valid.
template <class Work>
int guarded(sqlite3_file* file, Work work) {
  auto& open = self(file);
  const std::lock_guard lock{open.files->mutex};
  if (open.generation != open.files->generation) return SQLITE_IOERR;
  return work(*open.files, *open.file);
}

int do_close(sqlite3_file* file) {
  self(file).~OpenFile();
  return SQLITE_OK;
}

int do_read(sqlite3_file* file, void* into, int count, sqlite3_int64 offset) {
  return guarded(file, [&](Files&, const File& held) {
    const auto wanted = static_cast<std::size_t>(count);
    const auto from = std::min(static_cast<std::size_t>(offset), held.current.size());
    const auto got = held.current.copy(static_cast<char*>(into), wanted, from);
    if (got == wanted) return SQLITE_OK;
    std::memset(static_cast<char*>(into) + got, 0, wanted - got);
    return SQLITE_IOERR_SHORT_READ;
  });
}

int do_write(sqlite3_file* file, const void* from, int count, sqlite3_int64 offset) {
  return guarded(file, [&](Files& files, File& held) {
    const auto at = static_cast<std::size_t>(offset);
    const std::string_view bytes{static_cast<const char*>(from), static_cast<std::size_t>(count)};
    if (!survives(files)) return SQLITE_IOERR;
    if (files.read_only) return SQLITE_READONLY;
    if (files.failing_writes > 0) {
      --files.failing_writes;
      return SQLITE_IOERR_WRITE;
    }
    if (files.full && at + bytes.size() > held.current.size()) return SQLITE_FULL;
    File::apply(held.current, at, bytes);
    held.in_flight.push_back({at, std::string{bytes}, false});
    return SQLITE_OK;
  });
}

int do_truncate(sqlite3_file* file, sqlite3_int64 size) {
  return guarded(file, [&](Files& files, File& held) {
    if (!survives(files)) return SQLITE_IOERR;
    if (files.read_only) return SQLITE_READONLY;
    held.current.resize(static_cast<std::size_t>(size));
    held.in_flight.push_back({static_cast<std::size_t>(size), {}, true});
    return SQLITE_OK;
  });
}

int do_sync(sqlite3_file* file, int) {
  return guarded(file, [](Files& files, File& held) {
    if (!survives(files)) return SQLITE_IOERR;
    if (files.failing_syncs > 0) {
      --files.failing_syncs;
      return SQLITE_IOERR_FSYNC;
    }
    ++files.syncs;
    held.sync();
    return SQLITE_OK;
  });
}

int do_file_size(sqlite3_file* file, sqlite3_int64* size) {
  return guarded(file, [&](Files&, const File& held) {
    *size = static_cast<sqlite3_int64>(held.current.size());
    return SQLITE_OK;
  });
}

int do_lock(sqlite3_file*, int) { return SQLITE_OK; }

int do_check_reserved(sqlite3_file*, int* reserved) {
  *reserved = 0;
  return SQLITE_OK;
}

int do_control(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }

int do_sector_size(sqlite3_file*) { return kDeviceSectorBytes; }

int do_characteristics(sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }

const sqlite3_io_methods kMethods = {
    1,       do_close,          do_read,    do_write,       do_truncate,        do_sync, do_file_size, do_lock,
    do_lock, do_check_reserved, do_control, do_sector_size, do_characteristics, nullptr, nullptr,      nullptr,
    nullptr, nullptr,           nullptr,
};

Files& files_of(sqlite3_vfs* vfs) { return *static_cast<Files*>(vfs->pAppData); }

int do_open(sqlite3_vfs* vfs, const char* name, sqlite3_file* into, int flags, int* out_flags) {
  into->pMethods = nullptr;
  auto& files = files_of(vfs);
  const std::lock_guard lock{files.mutex};
  std::shared_ptr<File> file;
  if (name == nullptr) {
    file = std::make_shared<File>();  // a temporary file: no other handle can find it
  } else if (const auto found = files.named.find(name); found != files.named.end()) {
    file = found->second;
  } else {
    if ((flags & SQLITE_OPEN_CREATE) == 0 || files.read_only) return SQLITE_CANTOPEN;
    file = files.named.emplace(name, std::make_shared<File>()).first->second;
  }
  auto* open = new (into) OpenFile{};
  open->base.pMethods = &kMethods;
  open->files = &files;
  open->file = std::move(file);
  open->generation = files.generation;
  if (out_flags != nullptr) *out_flags = flags;
  return SQLITE_OK;
}

int do_delete(sqlite3_vfs* vfs, const char* name, int) {
  auto& files = files_of(vfs);
  const std::lock_guard lock{files.mutex};
  if (files.read_only) return SQLITE_READONLY;
  return files.named.erase(name) > 0 ? SQLITE_OK : SQLITE_IOERR_DELETE_NOENT;
}

int do_access(sqlite3_vfs* vfs, const char* name, int, int* result) {
  auto& files = files_of(vfs);
  const std::lock_guard lock{files.mutex};
  *result = files.named.contains(name) ? 1 : 0;
  return SQLITE_OK;
}

int do_full_path(sqlite3_vfs*, const char* name, int count, char* out) {
  const std::string_view path{name};
  if (path.size() + 1 > static_cast<std::size_t>(count)) return SQLITE_CANTOPEN;
  out[path.copy(out, path.size())] = '\0';
  return SQLITE_OK;
}

int do_randomness(sqlite3_vfs*, int count, char* out) {
  std::memset(out, 0x5a, static_cast<std::size_t>(count));
  return count;
}

int do_sleep(sqlite3_vfs*, int microseconds) { return microseconds; }

int do_current_time(sqlite3_vfs*, double* days) {
  *days = static_cast<double>(kNow) / 86'400'000.0;
  return SQLITE_OK;
}

int do_last_error(sqlite3_vfs*, int, char*) { return 0; }

}  // namespace

SimDisk::SimDisk() : files_{std::make_unique<Files>()} {
  static std::atomic<std::uint64_t> count{0};
  files_->name = format("simdisk-{}", ++count);
  auto& vfs = files_->vfs;
  vfs.iVersion = 1;
  vfs.szOsFile = sizeof(OpenFile);
  vfs.mxPathname = kMaxPathBytes;
  vfs.zName = files_->name.c_str();
  vfs.pAppData = files_.get();
  vfs.xOpen = do_open;
  vfs.xDelete = do_delete;
  vfs.xAccess = do_access;
  vfs.xFullPathname = do_full_path;
  vfs.xRandomness = do_randomness;
  vfs.xSleep = do_sleep;
  vfs.xCurrentTime = do_current_time;
  vfs.xGetLastError = do_last_error;
  sqlite3_vfs_register(&vfs, 0);
}

SimDisk::~SimDisk() { sqlite3_vfs_unregister(&files_->vfs); }

const std::string& SimDisk::vfs() const { return files_->name; }

void SimDisk::crash(Random& random) {
  const std::lock_guard lock{files_->mutex};
  ++files_->generation;
  files_->operations_left.reset();
  for (auto& [name, file] : files_->named) file->lose_power(random);
}

void SimDisk::kill() {
  const std::lock_guard lock{files_->mutex};
  ++files_->generation;
  files_->operations_left.reset();
}

void SimDisk::kill_after(std::uint64_t operations) {
  const std::lock_guard lock{files_->mutex};
  files_->operations_left = operations;
}

void SimDisk::fail_next_writes(std::uint64_t count) {
  const std::lock_guard lock{files_->mutex};
  files_->failing_writes = count;
}

void SimDisk::fail_next_syncs(std::uint64_t count) {
  const std::lock_guard lock{files_->mutex};
  files_->failing_syncs = count;
}

void SimDisk::set_full(bool full) {
  const std::lock_guard lock{files_->mutex};
  files_->full = full;
}

void SimDisk::set_read_only(bool read_only) {
  const std::lock_guard lock{files_->mutex};
  files_->read_only = read_only;
}

std::vector<std::string> SimDisk::files() const {
  const std::lock_guard lock{files_->mutex};
  std::vector<std::string> names;
  for (const auto& [name, file] : files_->named) names.push_back(name);
  return names;
}

std::optional<std::string> SimDisk::read(const std::string& path) const {
  const std::lock_guard lock{files_->mutex};
  const auto found = files_->named.find(path);
  if (found == files_->named.end()) return std::nullopt;
  return found->second->current;
}

void SimDisk::put(const std::string& path, std::string bytes) {
  const std::lock_guard lock{files_->mutex};
  files_->named[path] = std::make_shared<File>(File{bytes, bytes, {}});
}

std::string SimDisk::damage(Random& random) {
  constexpr std::uint64_t kMaxDamagedBytes = 5'000;
  auto names = files();
  std::erase_if(names, [&](const auto& name) { return name.find("damaged") != name.npos || read(name)->empty(); });
  if (names.empty()) return {};
  const auto& name = names[random.below(names.size())];
  auto bytes = *read(name);
  const auto size = bytes.size();
  const auto at = random.below(size);
  const auto count = std::min<std::uint64_t>(1 + random.below(kMaxDamagedBytes), size - at);
  std::string description;
  switch (random.below(6)) {
    case 0:
      for (auto byte = at; byte < at + count; ++byte) bytes[byte] ^= static_cast<char>(1 + random.below(255));
      description = format("{} bytes of {} at {} are changed", count, name, at);
      break;
    case 1:
      bytes.resize(size - count);
      description = format("{} bytes are removed from the end of {}", count, name);
      break;
    case 2:
      std::fill_n(bytes.begin(), std::min<std::uint64_t>(count, size), '\0');
      description = format("the first {} bytes of {} are zeros", count, name);
      break;
    default:
      bytes[at] ^= static_cast<char>(1 << random.below(8));
      description = format("a bit of {} at {} is flipped", name, at);
      break;
  }
  put(name, std::move(bytes));
  return description;
}

std::uint64_t SimDisk::syncs() const {
  const std::lock_guard lock{files_->mutex};
  return files_->syncs;
}

}  // namespace relay::store
