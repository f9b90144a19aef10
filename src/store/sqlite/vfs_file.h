/// A file of a SQLite file system, for the files beside the database. Private to src/store.
///
/// Why SQLite's file system: tests replace it by a disk that fails and loses power, so these files meet the same faults
///   as the database.
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
  enum class Mode { Read, Write };  // Write creates a missing file

  static Result<std::unique_ptr<VfsFile>> open(const std::string& path, const std::string& vfs, Mode mode);
  ~VfsFile();
  VfsFile(const VfsFile&) = delete;
  VfsFile& operator=(const VfsFile&) = delete;

  [[nodiscard]] std::uint64_t size() const;
  /// Reads from `at` into `into`; returns the number of bytes read.
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
