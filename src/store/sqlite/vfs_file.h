/// A file of a SQLite file system, for what is kept beside the database. Private to src/store.
///
/// Why through SQLite's file system: the disk that dies and forgets in tests is one, so whatever is written here is tried
///   under the same deaths as the database itself.
/// Ownership: owns the handle. Threading: one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace relay::store {

class VfsFile {
 public:
  enum class Mode { Read, Write };  // Write makes the file when there is none

  static Result<std::unique_ptr<VfsFile>> open(const std::string& path, const std::string& vfs, Mode mode);
  ~VfsFile();
  VfsFile(const VfsFile&) = delete;
  VfsFile& operator=(const VfsFile&) = delete;

  [[nodiscard]] std::uint64_t size() const;
  /// Fills `into` from `at` on; returns how many bytes there were.
  Result<std::size_t> read(std::uint64_t at, std::string& into) const;
  Result<void> write(std::uint64_t at, std::string_view bytes);
  Result<void> sync();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  class Handle;
  VfsFile(std::string path, std::unique_ptr<Handle> handle);

  std::string path_;
  std::unique_ptr<Handle> handle_;
};

bool file_exists(const std::string& path, const std::string& vfs);
bool delete_file(const std::string& path, const std::string& vfs);

}  // namespace relay::store
