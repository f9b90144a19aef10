/// The files of captured events: `<home>/events/<session>.jsonl`, written by every hook and by `agent-relay note`.
///
/// Why files: short-lived programs write them, many at the same time, also while no daemon and no host runs.
/// Invariants: a line is one write to the end of the file, so lines never mix; a line torn by a full disk costs only
///   itself. A file of kMaxFileBytes becomes `<session>.jsonl.1`, that one `.2`, and so on; number kMaxRotatedFiles + 1
///   is removed. No session name leads to another directory; links are not followed.
/// Ownership: owns its directory handle. Threading: one thread per object; many objects and programs may share a home
///   directory.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/directory.h"
#include "capture/record.h"

namespace relay::capture {

inline constexpr std::size_t kMaxFileBytes = 16 << 20;
inline constexpr int kMaxRotatedFiles = 4;
inline constexpr Millis kRetention = std::chrono::days{30};

/// `$RELAY_HOME`, else `~/.relay`; an error when neither is an absolute path.
Result<std::string> home_directory(const std::optional<std::string>& relay_home,
                                   const std::optional<std::string>& user_home);

/// A file name for any session id: the id itself if possible, else readable where possible; always unique.
std::string file_name_of(std::string_view session);

class CaptureLog {
 public:
  /// Creates missing directories (0700). A home directory with the layout of a later version is refused.
  static Result<CaptureLog> open(const std::string& home);

  Result<void> append(const Record& record, WallMs now);

  /// Removes files that were not written to for kRetention.
  Result<void> remove_old(WallMs now);

 private:
  explicit CaptureLog(std::unique_ptr<DiskDirectory> events) : events_{std::move(events)} {}
  Result<void> rotate(const std::string& name);

  std::unique_ptr<DiskDirectory> events_;
};

}  // namespace relay::capture
