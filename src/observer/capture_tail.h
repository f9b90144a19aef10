/// Follows the lines that hooks append to the capture files (docs/spec/capture.md).
///
/// Why one watch for the directory: there may be thousands of files of ended sessions.
/// Invariants: a line is reported once, whole, in the order of its file; lines from before the start are not reported.
///   A rotated file is read to its end first. At most kMaxFiles files are tracked, and one task of the loop reads at
///   most kPieceBytes; a line longer than capture::kMaxLineBytes is skipped.
/// Ownership: its destruction ends it. Threading: loop thread only.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "base/lifetime.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "net/asio_loop.h"
#include "net/readable_watch.h"

namespace relay::observer {

class CaptureTail {
 public:
  static constexpr std::size_t kMaxFiles = 4'096;
  static constexpr std::size_t kPieceBytes = 256U << 10;
  using OnLine = std::move_only_function<void(std::string_view line)>;

  /// The directory must exist. Fails when the kernel has no watches left for this user.
  static Result<std::unique_ptr<CaptureTail>> follow(net::AsioLoop& loop, std::string directory, OnLine on_line);
  ~CaptureTail();
  CaptureTail(const CaptureTail&) = delete;
  CaptureTail& operator=(const CaptureTail&) = delete;

 private:
  struct File {
    ino_t inode = 0;
    std::uint64_t read = 0;
    std::string held = {};  // the start of a line
    bool skipping = false;  // a line that is too long
  };

  CaptureTail(net::AsioLoop& loop, std::string directory, OnLine on_line);

  void record_present_files();
  void on_events();
  void read_changed();
  /// True when there is more to read.
  bool read_piece(const std::string& name);
  bool read_piece_of(int fd, File& file);
  void take(File& file, std::string_view bytes);
  [[nodiscard]] std::string path_of(std::string_view name) const;

  net::AsioLoop& loop_;
  std::string directory_;
  OnLine on_line_;
  UniqueFd inotify_;
  std::map<std::string, File> files_;  // by name
  std::set<std::string> changed_;
  bool scheduled_ = false;
  std::unique_ptr<net::ReadableWatch> readable_;
  Lifetime lifetime_;
};

}  // namespace relay::observer
