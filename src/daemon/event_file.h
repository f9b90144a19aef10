/// `events.jsonl`: the log of events as lines in a file, for people and programs that would rather read files.
///
/// Why a projection: the rows in the store are the truth; this file is written behind them and completed from them at the
///   next start, so that a death at any moment costs nothing.
/// Invariants: every line is whole and in order; a torn last line is cut off when the file is opened. When it has grown
///   large, or is a day old, it is set aside as `events-<number of its first event>.jsonl`, and those that were last
///   written before the age for events are removed. Mode 0600.
/// Threading: one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "records/events.h"

namespace relay::daemon {

inline constexpr std::uint64_t kMaxEventFileBytes = 64 << 20;
inline constexpr WallMs kMaxEventFileAgeMs = 24LL * 3600 * 1000;

/// How many messages the event files of a directory tell of.
std::uint64_t messages_in_event_files(const std::string& directory);

class EventFile {
 public:
  explicit EventFile(std::string directory) : directory_{std::move(directory)} {}

  /// The number of the last event in it; 0 when there is none. One whose numbers are beyond `newest` belongs to another
  /// store: it is set aside.
  Result<records::EventSeq> open(records::EventSeq newest);
  Result<void> append(const std::vector<records::EncodedEvent>& events, WallMs now);
  /// Those set aside that were last written before this are removed.
  void remove_before(WallMs time);

 private:
  [[nodiscard]] std::string path() const { return directory_ + "/events.jsonl"; }
  /// With nothing behind so many bytes.
  Result<void> open_at(std::uint64_t bytes);
  Result<void> rotate();
  [[nodiscard]] std::vector<std::string> rotated_files() const;
  [[nodiscard]] std::string newest_rotated_file() const;

  std::string directory_;
  UniqueFd file_;
  std::uint64_t bytes_ = 0;
  records::EventSeq first_ = 0;  // in it; 0: it is empty
  WallMs since_ = 0;             // when it was begun
};

}  // namespace relay::daemon
