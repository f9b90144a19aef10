#include "store/sqlite/checked_pages.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "base/format.h"
#include "base/hash.h"
#include "store/message_store.h"
#include "store/sqlite/vfs_file.h"

namespace relay::store {
namespace {

constexpr std::size_t kHeaderRead = 100;          // of a database
constexpr std::size_t kHeaderPagesAt = 28;        // offset of the number of pages
constexpr std::size_t kHeaderLargestRootAt = 52;  // not 0: every page has an entry in a pointer map
constexpr std::uint64_t kLockByte = 0x4000'0000;  // SQLite never uses the page that contains it
constexpr std::size_t kVerifyBytes = std::size_t{1} << 20;

std::uint64_t page_check(const char* page, std::size_t bytes, std::uint64_t number) {
  return checksum({page, bytes - kPageCheckBytes}, number);
}

bool is_intact(const char* page, std::size_t bytes, std::uint64_t number) {
  std::uint64_t kept = 0;
  std::memcpy(&kept, page + bytes - kPageCheckBytes, sizeof kept);
  return kept == page_check(page, bytes, number);
}

/// A database file; the underlying file follows it in memory.
struct CheckedFile {
  sqlite3_file base{};  // first: SQLite uses only this part
  PageLayout layout;
  std::vector<char> page;  // being written
  [[nodiscard]] bool is_page(int amount, sqlite3_int64 offset) const {
    return layout.checked && static_cast<std::uint32_t>(amount) == layout.page_bytes && offset % amount == 0;
  }
};
constexpr std::size_t kBelow = (sizeof(CheckedFile) + 15) / 16 * 16;

CheckedFile& as_checked(sqlite3_file* file) { return *reinterpret_cast<CheckedFile*>(file); }
sqlite3_file* below(sqlite3_file* file) {
  return reinterpret_cast<sqlite3_file*>(reinterpret_cast<char*>(file) + kBelow);
}

int checked_close(sqlite3_file* file) {
  const int code = below(file)->pMethods->xClose(below(file));
  as_checked(file).~CheckedFile();
  return code;
}

int checked_read(sqlite3_file* file, void* into, int amount, sqlite3_int64 offset) {
  const int code = below(file)->pMethods->xRead(below(file), into, amount, offset);
  if (code != SQLITE_OK) return code;  // beyond the end of the file: a page that SQLite has not written yet
  const auto& checked = as_checked(file);
  if (!checked.is_page(amount, offset)) return code;
  const auto number = static_cast<std::uint64_t>(offset / amount) + 1;
  return is_intact(static_cast<const char*>(into), static_cast<std::size_t>(amount), number) ? code : SQLITE_CORRUPT;
}

int checked_write(sqlite3_file* file, const void* from, int amount, sqlite3_int64 offset) {
  auto& checked = as_checked(file);
  const auto* bytes = static_cast<const char*>(from);
  const auto size = static_cast<std::size_t>(amount);
  if (offset == 0 && size >= kHeaderRead) checked.layout = page_layout({bytes, kHeaderRead});
  if (!checked.is_page(amount, offset)) return below(file)->pMethods->xWrite(below(file), from, amount, offset);
  checked.page.assign(bytes, bytes + size);
  const auto check = page_check(bytes, size, static_cast<std::uint64_t>(offset / amount) + 1);
  std::memcpy(checked.page.data() + size - kPageCheckBytes, &check, sizeof check);
  return below(file)->pMethods->xWrite(below(file), checked.page.data(), amount, offset);
}

int pass_truncate(sqlite3_file* file, sqlite3_int64 size) {
  return below(file)->pMethods->xTruncate(below(file), size);
}
int pass_sync(sqlite3_file* file, int flags) { return below(file)->pMethods->xSync(below(file), flags); }
int pass_size(sqlite3_file* file, sqlite3_int64* size) { return below(file)->pMethods->xFileSize(below(file), size); }
int pass_lock(sqlite3_file* file, int level) { return below(file)->pMethods->xLock(below(file), level); }
int pass_unlock(sqlite3_file* file, int level) { return below(file)->pMethods->xUnlock(below(file), level); }
int pass_reserved(sqlite3_file* file, int* out) { return below(file)->pMethods->xCheckReservedLock(below(file), out); }
int pass_control(sqlite3_file* file, int operation, void* value) {
  return below(file)->pMethods->xFileControl(below(file), operation, value);
}
int pass_sector(sqlite3_file* file) { return below(file)->pMethods->xSectorSize(below(file)); }
int pass_device(sqlite3_file* file) { return below(file)->pMethods->xDeviceCharacteristics(below(file)); }
int pass_shm_map(sqlite3_file* file, int region, int size, int extend, void volatile** out) {
  return below(file)->pMethods->xShmMap(below(file), region, size, extend, out);
}
int pass_shm_lock(sqlite3_file* file, int offset, int count, int flags) {
  return below(file)->pMethods->xShmLock(below(file), offset, count, flags);
}
void pass_shm_barrier(sqlite3_file* file) { below(file)->pMethods->xShmBarrier(below(file)); }
int pass_shm_unmap(sqlite3_file* file, int remove) { return below(file)->pMethods->xShmUnmap(below(file), remove); }

/// Version 1 has no shared memory. Version 3 (memory-mapped pages) is not offered: it would bypass the checks.
constexpr sqlite3_io_methods methods_of(int version) {
  return {version,       checked_close,    checked_read,   checked_write, pass_truncate, pass_sync,   pass_size,
          pass_lock,     pass_unlock,      pass_reserved,  pass_control,  pass_sector,   pass_device, pass_shm_map,
          pass_shm_lock, pass_shm_barrier, pass_shm_unmap, nullptr,       nullptr};
}
constexpr sqlite3_io_methods kMethodsWithoutMemory = methods_of(1);
constexpr sqlite3_io_methods kMethodsWithMemory = methods_of(2);

sqlite3_vfs* vfs_below(sqlite3_vfs* vfs) { return static_cast<sqlite3_vfs*>(vfs->pAppData); }

int checked_open(sqlite3_vfs* vfs, sqlite3_filename name, sqlite3_file* into, int flags, int* out) {
  auto* under = vfs_below(vfs);
  if ((flags & SQLITE_OPEN_MAIN_DB) == 0) return under->xOpen(under, name, into, flags, out);
  into->pMethods = nullptr;
  auto* file = below(into);
  const int code = under->xOpen(under, name, file, flags, out);
  if (code != SQLITE_OK) return code;
  auto* checked = new (into) CheckedFile{};
  checked->base.pMethods = file->pMethods->iVersion >= 2 ? &kMethodsWithMemory : &kMethodsWithoutMemory;
  char header[kHeaderRead] = {};
  if (file->pMethods->xRead(file, header, sizeof header, 0) == SQLITE_OK)
    checked->layout = page_layout({header, sizeof header});
  return SQLITE_OK;
}

int pass_delete(sqlite3_vfs* vfs, const char* name, int sync) {
  return vfs_below(vfs)->xDelete(vfs_below(vfs), name, sync);
}
int pass_access(sqlite3_vfs* vfs, const char* name, int flags, int* out) {
  return vfs_below(vfs)->xAccess(vfs_below(vfs), name, flags, out);
}
int pass_path(sqlite3_vfs* vfs, const char* name, int bytes, char* out) {
  return vfs_below(vfs)->xFullPathname(vfs_below(vfs), name, bytes, out);
}
int pass_random(sqlite3_vfs* vfs, int bytes, char* out) {
  return vfs_below(vfs)->xRandomness(vfs_below(vfs), bytes, out);
}
int pass_sleep(sqlite3_vfs* vfs, int microseconds) { return vfs_below(vfs)->xSleep(vfs_below(vfs), microseconds); }
int pass_time(sqlite3_vfs* vfs, double* days) { return vfs_below(vfs)->xCurrentTime(vfs_below(vfs), days); }
int pass_time64(sqlite3_vfs* vfs, sqlite3_int64* now) { return vfs_below(vfs)->xCurrentTimeInt64(vfs_below(vfs), now); }
int pass_error(sqlite3_vfs* vfs, int bytes, char* out) {
  return vfs_below(vfs)->xGetLastError(vfs_below(vfs), bytes, out);
}

struct CheckedVfs {
  std::string name;
  sqlite3_vfs vfs{};
};

}  // namespace

PageLayout page_layout(std::string_view header) {
  static constexpr std::string_view kMagic{"SQLite format 3", 16};
  if (header.size() < kHeaderRead || !header.starts_with(kMagic)) return {};
  const auto byte = [&](std::size_t at) { return static_cast<std::uint32_t>(static_cast<unsigned char>(header[at])); };
  const auto size = byte(16) << 8 | byte(17);
  return {size == 1 ? 65'536 : size, byte(20) == static_cast<std::uint32_t>(kPageCheckBytes)};
}

std::uint32_t header_number(std::string_view header, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t byte = 0; byte < 4; ++byte) value = value << 8 | static_cast<unsigned char>(header[at + byte]);
  return value;
}

bool is_intact_page(std::string_view page, std::uint64_t number) {
  return page.size() >= 512 && is_intact(page.data(), page.size(), number);
}

void seal_page(std::string& page, std::uint64_t number) {
  const auto check = page_check(page.data(), page.size(), number);
  std::memcpy(page.data() + page.size() - kPageCheckBytes, &check, sizeof check);
}

std::string register_checked_vfs(const std::string& vfs) {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<CheckedVfs>> made;  // SQLite keeps pointers into them
  const std::lock_guard lock{mutex};
  auto& one = made[vfs];
  if (one != nullptr) return one->name;
  auto* under = sqlite3_vfs_find(vfs.empty() ? nullptr : vfs.c_str());
  if (under == nullptr) return vfs;  // SQLite reports the unknown name
  one = std::make_unique<CheckedVfs>();
  one->name = format("checked-{}", under->zName);
  auto& new_vfs = one->vfs;
  new_vfs.iVersion = under->iVersion >= 2 ? 2 : 1;
  new_vfs.szOsFile = static_cast<int>(kBelow) + under->szOsFile;
  new_vfs.mxPathname = under->mxPathname;
  new_vfs.zName = one->name.c_str();
  new_vfs.pAppData = under;
  new_vfs.xOpen = checked_open;
  new_vfs.xDelete = pass_delete;
  new_vfs.xAccess = pass_access;
  new_vfs.xFullPathname = pass_path;
  new_vfs.xRandomness = pass_random;
  new_vfs.xSleep = pass_sleep;
  new_vfs.xCurrentTime = pass_time;
  new_vfs.xGetLastError = pass_error;
  if (under->iVersion >= 2) new_vfs.xCurrentTimeInt64 = pass_time64;
  sqlite3_vfs_register(&new_vfs, 0);
  return one->name;
}

Result<VerifyResult> verify_pages(const std::string& path, const std::string& vfs, std::uint64_t pages) {
  const auto file = RELAY_TRY(VfsFile::open(path, vfs, VfsFile::Mode::Read));
  std::string header(kHeaderRead, '\0');
  const auto size = file->size();
  VerifyResult verified;
  if (RELAY_TRY(file->read(0, header)) != header.size()) return verified;
  const auto layout = page_layout(header);
  if (layout.page_bytes < 512) return fail(Errc::Damaged, format("the header of {} is damaged", path));
  if (size < pages * layout.page_bytes)
    return fail(Errc::Damaged, format("{} has {} bytes and should have {}", path, size, pages * layout.page_bytes));
  verified.checked = layout.checked;
  if (!layout.checked) return verified;
  const std::string zeros(layout.page_bytes, '\0');
  std::string part;
  const auto per_part = kVerifyBytes / layout.page_bytes;
  for (std::uint64_t first = 0; first < pages; first += per_part) {
    part.resize(std::min<std::uint64_t>(per_part, pages - first) * layout.page_bytes);
    if (RELAY_TRY(file->read(first * layout.page_bytes, part)) != part.size())
      return fail(Errc::Damaged, format("{} cannot be read to its end", path));
    for (std::size_t at = 0; at < part.size(); at += layout.page_bytes) {
      const auto page = first + at / layout.page_bytes;
      if (page == kLockByte / layout.page_bytes) continue;
      if (is_intact(part.data() + at, layout.page_bytes, page + 1)) continue;
      if (part.compare(at, layout.page_bytes, zeros) == 0)
        verified.zeros = true;
      else
        return fail(Errc::Damaged, format("page {} of {} is damaged", page + 1, path));
    }
  }
  return verified;
}

PageVerifier::PageVerifier(std::unique_ptr<VfsFile> file) : file_{std::move(file)} {}
PageVerifier::~PageVerifier() = default;

Result<std::unique_ptr<PageVerifier>> PageVerifier::open(const std::string& path, const std::string& vfs) {
  return std::unique_ptr<PageVerifier>{new PageVerifier{RELAY_TRY(VfsFile::open(path, vfs, VfsFile::Mode::Read))}};
}

Result<bool> PageVerifier::step(std::size_t max_bytes) {
  std::string header(kHeaderRead, '\0');
  header.resize(RELAY_TRY(file_->read(0, header)));
  if (header.empty()) return false;  // no checkpoint has written the file yet
  const auto layout = page_layout(header);
  if (layout.page_bytes < 512) return fail(Errc::Damaged, format("the header of {} is damaged", file_->path()));
  if (!layout.checked) return false;
  const std::uint64_t pages = header_number(header, kHeaderPagesAt);
  if (verified_ >= pages) return false;  // the file became smaller
  const auto count =
      std::min<std::uint64_t>(std::max<std::uint64_t>(max_bytes / layout.page_bytes, 1), pages - verified_);
  std::string part(count * layout.page_bytes, '\0');
  if (RELAY_TRY(file_->read(verified_ * layout.page_bytes, part)) != part.size())
    return fail(Errc::Damaged, format("{} cannot be read to its end", file_->path()));
  for (std::size_t at = 0; at < part.size(); at += layout.page_bytes) {
    const auto number = verified_ + at / layout.page_bytes + 1;
    const auto page = std::string_view{part}.substr(at, layout.page_bytes);
    if (number == kLockByte / layout.page_bytes + 1 || is_intact_page(page, number)) continue;
    const bool is_zero = page.find_first_not_of('\0') == std::string_view::npos;
    if (is_zero && RELAY_TRY(is_free(number, layout, header))) continue;
    return fail(Errc::Damaged, format("page {} of {} is damaged", number, file_->path()));
  }
  verified_ += count;
  return verified_ < pages;
}

Result<bool> PageVerifier::is_free(std::uint64_t number, const PageLayout& layout, std::string_view header) const {
  if (header_number(header, kHeaderLargestRootAt) == 0) return true;  // no map: the page may be free
  constexpr std::size_t kEntryBytes = 5;
  constexpr char kFreePage = 2;
  const auto per_map = (layout.page_bytes - kPageCheckBytes) / kEntryBytes + 1;  // pages of one map, itself included
  auto map = (number - 2) / per_map * per_map + 2;
  if (map == kLockByte / layout.page_bytes + 1) ++map;
  if (number <= map) return false;
  std::string page(layout.page_bytes, '\0');
  const auto count = RELAY_TRY(file_->read((map - 1) * layout.page_bytes, page));
  return count == page.size() && is_intact_page(page, map) && page[(number - map - 1) * kEntryBytes] == kFreePage;
}

}  // namespace relay::store
