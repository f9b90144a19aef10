/// A SQLite file system over another one that keeps a checksum in every page of a database. Private to src/store.
///
/// Why: SQLite detects damage to the structure of a page, not to its content; it would accept a flipped byte in a
///   message or a state. The checksum (XXH3, seeded by the page number) is in the last 8 bytes of the page, which
///   SQLite does not use (its "reserved space"). It is set when a page is written to the database file and compared
///   whenever one is read from it. SQLite's log has its own checksums.
/// Invariants: a page that differs from its checksum is an error (SQLITE_CORRUPT), never content; a database without
///   reserved space is read as it is. Any SQLite can read such a database; one that writes to it damages it.
/// Threading: any.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/sqlite/vfs_file.h"

namespace relay::store {

inline constexpr int kPageCheckBytes = 8;

/// Registers the checking file system over `vfs` at the first use; returns its name. `vfs` must outlive every file.
std::string register_checked_vfs(const std::string& vfs);

/// Page size and checksums according to the header of a database.
struct PageLayout {
  std::uint32_t page_bytes = 0;  // 0: no header
  bool checked = false;
};
PageLayout page_layout(std::string_view header);
/// One of the header's numbers of four bytes.
std::uint32_t header_number(std::string_view header, std::size_t at);

[[nodiscard]] bool is_intact_page(std::string_view page, std::uint64_t number);
/// Writes the checksum into a page. Pages are numbered from 1.
void seal_page(std::string& page, std::uint64_t number);

/// What the checksums could not verify.
struct VerifyResult {
  bool checked = false;  // the database has checksums
  bool zeros = false;    // a page is all zeros: SQLite never wrote it because it is free, or it is damaged
};
/// Compares all pages of a database with their checksums, and its size with their number; Damaged names the first
/// difference. Nothing may write meanwhile, and the log must be empty.
Result<VerifyResult> verify_pages(const std::string& path, const std::string& vfs, std::uint64_t pages);

/// The same comparison in bounded steps, while the database is in use.
///
/// Invariants: the thread that takes a step is the only writer of the database file, so no page changes during it. The
///   file may be behind SQLite's log, and after a crash a page that the log holds may be half written in the file:
///   Damaged is final only when the same step fails again after a checkpoint.
/// Ownership: owns its file handle. Threading: the writer's thread.
class PageVerifier {
 public:
  static Result<std::unique_ptr<PageVerifier>> open(const std::string& path, const std::string& vfs);
  ~PageVerifier();

  /// Compares the next pages, at most `max_bytes` (at least one page). True: more remain. The next call repeats a
  /// failed step.
  Result<bool> step(std::size_t max_bytes);

 private:
  explicit PageVerifier(std::unique_ptr<VfsFile> file);
  /// Free according to SQLite's pointer map; SQLite does not write every free page.
  Result<bool> is_free(std::uint64_t number, const PageLayout& layout, std::string_view header) const;

  std::unique_ptr<VfsFile> file_;
  std::uint64_t verified_ = 0;  // pages, from the first
};

}  // namespace relay::store
