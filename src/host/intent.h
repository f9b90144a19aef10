/// What we are about to type, on disk before the first byte: after a crash nobody types it again by itself.
///
/// A host that died between writing a message and telling the daemon of its fate leaves a real doubt. Its successor
/// finds the note here and reports the delivery as in doubt instead of typing it a second time. Notes are never taken
/// back: that an end was told does not mean that the daemon has stored it.
/// Not synced: it must outlive us, and a power cut ends the agent as well. At most kMaxNotes are kept, the newest.
#pragma once

#include <deque>
#include <string>

#include "base/directory.h"
#include "base/result.h"

namespace relay::host {

class Intent {
 public:
  static constexpr std::size_t kMaxNotes = 256;

  /// `name` is the file's; the directory outlives this.
  Intent(Directory& directory, std::string name) : directory_{directory}, name_{std::move(name)} {}

  /// Reads what a predecessor left behind.
  Result<void> load();
  [[nodiscard]] bool holds(const std::string& delivery) const;

  Result<void> add(const std::string& delivery);

 private:
  Result<void> write();

  Directory& directory_;
  std::string name_;
  std::deque<std::string> notes_;  // oldest first
};

}  // namespace relay::host
