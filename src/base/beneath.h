/// Opens a file or a directory below a directory that another user may have written, such as a cloned project.
///
/// Why: a path there may be a link to `~/.ssh`, a pipe that never answers, or a file of another user of the machine.
///   A plain `open` follows, waits for, or writes to each of them.
/// Invariants: the result lies below the given directory and no link led to it (`openat2` with RESOLVE_BENEATH and
///   RESOLVE_NO_SYMLINKS; on older kernels each name is opened after the other). It is a regular file or a directory,
///   and it belongs to this user. No call waits for another program.
/// Threading: any thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace relay {

enum class BeneathErrc : std::uint8_t { Absent, Link, WrongKind, Foreign };
std::string_view describe(BeneathErrc code);

/// The path relative to `directory`, and the full path for error messages.
struct BeneathPath {
  int directory;
  const std::string& relative;
  const std::string& display_path;
};

Result<UniqueFd> open_directory_beneath(const BeneathPath& path);
/// `flags` are those of `open`; O_CREAT makes the file with mode 0600. O_TRUNC is not allowed: the owner is not known
/// before the file is open.
Result<UniqueFd> open_file_beneath(const BeneathPath& path, int flags);

/// An open descriptor belongs to this user, or an error that names `display_path`.
Result<void> check_owner(int fd, const std::string& display_path);

/// How a path is resolved. Tests use Stepwise to try the fallback on every kernel.
enum class Resolution : std::uint8_t { Kernel, Stepwise };
/// The descriptor, or an empty one with errno. Neither kind nor owner is checked.
UniqueFd resolve_beneath(int directory, const std::string& relative, int flags, mode_t mode, Resolution resolution);

}  // namespace relay
