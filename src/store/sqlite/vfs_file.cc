#include "store/sqlite/vfs_file.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/format.h"
#include "store/message_store.h"

namespace relay::store {
namespace {

// Per call: SQLite itself never transfers more than a page.
constexpr std::size_t kMaxTransfer = std::size_t{64} << 10;

sqlite3_vfs* file_system(const std::string& vfs) { return sqlite3_vfs_find(vfs.empty() ? nullptr : vfs.c_str()); }

Failure cannot(std::string_view action, const std::string& path, int code) {
  const auto kind = (code & 0xff) == SQLITE_FULL       ? Errc::Full
                    : (code & 0xff) == SQLITE_READONLY ? Errc::ReadOnly
                                                       : Errc::Failed;
  return fail(kind, format("cannot {} {}: {}", action, path, sqlite3_errstr(code)));
}

}  // namespace

class VfsFile::Handle {
 public:
  // SQLite file systems expect names it allocated itself (parameters follow the name in memory).
  Handle(const std::string& path, const sqlite3_vfs& system)
      : memory_(static_cast<std::size_t>(system.szOsFile) / sizeof(std::max_align_t) + 1),
        name_{sqlite3_create_filename(path.c_str(), "", "", 0, nullptr)} {
    get()->pMethods = nullptr;
  }
  ~Handle() {
    if (get()->pMethods != nullptr) get()->pMethods->xClose(get());
    sqlite3_free_filename(name_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  sqlite3_file* get() { return reinterpret_cast<sqlite3_file*>(memory_.data()); }
  sqlite3_filename name() { return name_; }
  const sqlite3_io_methods& methods() { return *get()->pMethods; }

 private:
  std::vector<std::max_align_t> memory_;
  sqlite3_filename name_;
};

VfsFile::VfsFile(std::string path, std::unique_ptr<Handle> handle)
    : path_{std::move(path)}, handle_{std::move(handle)} {}
VfsFile::~VfsFile() = default;

Result<std::unique_ptr<VfsFile>> VfsFile::open(const std::string& path, const std::string& vfs, Mode mode) {
  auto* system = file_system(vfs);
  if (system == nullptr) return fail(Errc::Failed, format("no file system is named {}", vfs));
  auto handle = std::make_unique<Handle>(path, *system);
  // Opened as a log of a database, so that its directory is synced when the file is new.
  const int flags = mode == Mode::Read ? SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB
                                       : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_WAL;
  int got = 0;
  const int code = system->xOpen(system, handle->name(), handle->get(), flags, &got);
  if (code != SQLITE_OK) return cannot("open", path, code);
  return std::unique_ptr<VfsFile>{new VfsFile{path, std::move(handle)}};
}

std::uint64_t VfsFile::size() const {
  sqlite3_int64 bytes = 0;
  return handle_->methods().xFileSize(handle_->get(), &bytes) == SQLITE_OK ? static_cast<std::uint64_t>(bytes) : 0;
}

Result<std::size_t> VfsFile::read(std::uint64_t at, std::string& into) const {
  const auto file_size = size();
  const auto count = std::min<std::size_t>(into.size(), at < file_size ? file_size - at : 0);
  for (std::size_t done = 0; done < count;) {
    const auto part = std::min(count - done, kMaxTransfer);
    const int code = handle_->methods().xRead(handle_->get(), into.data() + done, static_cast<int>(part),
                                              static_cast<sqlite3_int64>(at + done));
    if (code != SQLITE_OK) return cannot("read", path_, code);
    done += part;
  }
  return count;
}

Result<void> VfsFile::write(std::uint64_t at, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto part = bytes.substr(0, kMaxTransfer);
    const int code = handle_->methods().xWrite(handle_->get(), part.data(), static_cast<int>(part.size()),
                                               static_cast<sqlite3_int64>(at));
    if (code != SQLITE_OK) return cannot("write", path_, code);
    at += part.size();
    bytes.remove_prefix(part.size());
  }
  return {};
}

Result<void> VfsFile::sync() {
  const int code = handle_->methods().xSync(handle_->get(), SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
  if (code != SQLITE_OK) return cannot("sync", path_, code);
  return {};
}

bool file_exists(const std::string& path, const std::string& vfs) {
  auto* system = file_system(vfs);
  int found = 0;
  return system != nullptr && system->xAccess(system, path.c_str(), SQLITE_ACCESS_EXISTS, &found) == SQLITE_OK &&
         found != 0;
}

bool delete_file(const std::string& path, const std::string& vfs) {
  auto* system = file_system(vfs);
  return system != nullptr && system->xDelete(system, path.c_str(), 1) == SQLITE_OK;
}

}  // namespace relay::store
