/// What we are about to type, on disk before the first byte, and what became of it: after a crash nobody types it again
/// by itself, and nobody doubts what was known.
///
/// A host that died between writing a message and seeing its end leaves a real doubt. Its successor finds the note here
/// and reports the delivery as in doubt instead of typing it a second time. When the end was seen, it is noted before the
/// daemon is told: the daemon may be away, and the successor then says what its predecessor could not.
/// Notes are never taken back: that an end was told does not mean that the daemon has stored it. The newest kMaxNotes are
/// kept, as many as a host has in hand at most: a delivery that is older than all of them has its end at the daemon.
/// Not synced: it must outlive us, and a power cut ends the agent as well.
/// Invariant of the file: a line for each note and each end, the last one of a delivery counts; appended to while all that
///   was written is known to be whole, otherwise written anew.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/directory.h"
#include "base/result.h"
#include "protocol/send.h"

namespace relay::host {

class IntentLog {
 public:
  static constexpr std::size_t kMaxNotes = 2'048;

  /// `name` is the file's; the directory outlives this.
  IntentLog(Directory& directory, std::string name) : directory_{directory}, name_{std::move(name)} {}

  /// Reads what a predecessor left behind.
  Result<void> load();
  [[nodiscard]] bool contains(const std::string& delivery) const { return ends_.contains(delivery); }
  /// What became of it, when that was seen.
  [[nodiscard]] std::optional<protocol::Receipt> end_of(const std::string& delivery) const;

  Result<void> add(const std::string& delivery);
  /// Of one that was noted; of others nothing is kept. When it cannot be written the doubt remains, no more.
  void add_outcome(const std::string& delivery, const protocol::Receipt& receipt);

 private:
  void keep(std::string_view line);
  void forget_oldest();
  Result<void> append(const std::string& line);
  Result<void> rewrite();

  Directory& directory_;
  std::string name_;
  std::deque<std::string> notes_;                      // oldest first
  std::unordered_map<std::string, std::string> ends_;  // of each note: the receipt, empty while it is not known
  std::unique_ptr<AppendFile> file_;                   // none: it has to be written anew
  std::size_t lines_ = 0;
};

}  // namespace relay::host
