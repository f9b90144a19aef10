/// The files of captured events: `<home>/events/<session>.jsonl`, written by every hook and by whoever takes notes.
///
/// Why files: they are written also while no daemon and no host runs, by programs that live for milliseconds, many at
///   the same time.
/// Invariants: a line is one write to the end of the file, so lines never mix; a line torn by a full disk costs only
///   itself. A file of kMaxFileBytes becomes `<session>.jsonl.1`, that one `.2`, and so on; what would be number
///   kMaxRotatedFiles + 1 is gone. No name from outside leads to another directory; links are not followed.
/// Ownership: owns its directory handle. Threading: one thread per object; many objects and programs may share a home.
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

/// `$RELAY_HOME`, else `~/.relay`; an error where neither is an absolute path.
Result<std::string> home_directory(const std::optional<std::string>& relay_home,
                                   const std::optional<std::string>& user_home);

/// A file name for any session id: the id itself where that is one, else readable where possible, unique always.
std::string file_name_of(std::string_view session);

class CaptureLog {
 public:
  /// Makes the directories (0700) where they are absent. A home laid out by a later version is refused.
  static Result<CaptureLog> open(const std::string& home);

  Result<void> append(const Record& record, WallMs now);

  /// Removes files nobody wrote to for kKeptFor.
  Result<void> remove_old(WallMs now);

 private:
  explicit CaptureLog(std::unique_ptr<DiskDirectory> events) : events_{std::move(events)} {}
  Result<void> rotate(const std::string& name);

  std::unique_ptr<DiskDirectory> events_;
};

}  // namespace relay::capture
