/// `events.jsonl`: the event log as lines in a file, for users and programs that prefer files.
///
/// Why a projection: the rows in the store are authoritative; this file is written after them and completed from them
///   at the next start, so a crash at any moment loses nothing.
/// Invariants: every line is whole and in order; opening cuts off a torn last line. A large or day-old file is rotated
///   to `events-<number of its first event>.jsonl`, and rotated files older than the age for events are removed. Mode
///   0600.
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

/// The number of messages in the event files of a directory.
std::uint64_t messages_in_event_files(const std::string& directory);

class EventFile {
 public:
  explicit EventFile(std::string directory) : directory_{std::move(directory)} {}

  /// Returns the number of the last event in the file; 0 when it is empty. Rotates a file with numbers beyond `newest`,
  /// which belongs to another store.
  Result<records::EventSeq> open(records::EventSeq newest);
  Result<void> append(const std::vector<records::EncodedEvent>& events, WallMs now);
  /// Removes rotated files last written before this time.
  void remove_before(WallMs time);

 private:
  [[nodiscard]] std::string path() const { return directory_ + "/events.jsonl"; }
  /// Opens the file and truncates it to this size.
  Result<void> open_at(std::uint64_t bytes);
  Result<void> rotate();
  [[nodiscard]] std::vector<std::string> rotated_files() const;
  [[nodiscard]] std::string newest_rotated_file() const;

  std::string directory_;
  UniqueFd file_;
  std::uint64_t bytes_ = 0;
  records::EventSeq first_ = 0;  // the first event in it; 0: it is empty
  WallMs since_ = 0;             // when it was started
};

}  // namespace relay::daemon
