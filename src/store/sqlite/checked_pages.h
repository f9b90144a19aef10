/// A SQLite file system over another one that keeps a checksum in every page of a database. Private to src/store.
///
/// Why: SQLite notices damage to the structure of a page, not to what is in it; a flipped byte in a message or in a state
///   would be believed. The checksum (XXH3 under the number of the page) stands in the last 8 bytes of the page, which
///   SQLite leaves alone (its "reserved space"), is made when a page is written to the database file and compared
///   whenever one is read from it. Only the database file is concerned: SQLite's log has checksums of its own.
/// Invariants: a page that differs from its checksum is an error (SQLITE_CORRUPT), never content; a database that was made
///   without reserved space is read as it is. Any SQLite can read such a database; one that writes to it makes damage.
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

/// The name of that file system; it is made at the first use. The one below must outlive every file.
std::string checked_pages_over(const std::string& vfs);

/// What the header of a database says about its pages.
struct PageLayout {
  std::uint32_t page_bytes = 0;  // 0: no header
  bool checked = false;
};
PageLayout page_layout(std::string_view header);
/// One of the header's numbers of four bytes.
std::uint32_t header_number(std::string_view header, std::size_t at);

[[nodiscard]] bool is_intact_page(std::string_view page, std::uint64_t number);
/// Puts the checksum where it belongs. Pages are numbered from 1.
void seal_page(std::string& page, std::uint64_t number);

/// What the checksums leave open.
struct VerifyResult {
  bool checked = false;  // the database has checksums
  bool zeros = false;    // a page is all zeros: SQLite never wrote it because it is free, or it is damaged
};
/// Compares all pages of a database with their checksums, and its size with their number; Damaged names the first that
/// differs. Nobody may write meanwhile, and the log must be empty.
Result<VerifyResult> verify_pages(const std::string& path, const std::string& vfs, std::uint64_t pages);

/// The same comparison in bounded steps, while the database is in use.
///
/// Invariants: the thread that takes a step is the only writer of the database file, so no page changes under it. The file
///   may be behind SQLite's log, and a page that the log holds may stand half written in the file after a crash: Damaged is
///   final only when the log is folded in and the same step fails again.
/// Ownership: owns its handle of the file. Threading: the writer's thread.
class PageVerifier {
 public:
  static Result<std::unique_ptr<PageVerifier>> open(const std::string& path, const std::string& vfs);
  ~PageVerifier();

  /// Compares the next pages, at most that many bytes (one page at least). True: more remain. A step that failed is
  /// taken again by the next call.
  Result<bool> step(std::size_t max_bytes);

 private:
  explicit PageVerifier(std::unique_ptr<VfsFile> file);
  /// SQLite does not write every free page: its map of pages says which are free.
  Result<bool> is_free(std::uint64_t number, const PageLayout& layout, std::string_view header) const;

  std::unique_ptr<VfsFile> file_;
  std::uint64_t verified_ = 0;  // pages, from the first
};

}  // namespace relay::store
