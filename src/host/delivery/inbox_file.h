/// `team/<agent>/inbox.md`: a copy of the agent's messages, to be read at any time.
///
/// It is no delivery: it proves nothing, and no delivery waits for it.
/// Invariants: a message is written once, also when it is delivered again to a later host, as long as the file has it;
///   at kMaxInboxBytes the file becomes `inbox.old.md` and a new one is created.
/// Threading: one thread.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/directory.h"
#include "host/delivery/delivery.h"

namespace relay::host {

inline constexpr std::size_t kMaxInboxBytes = 1 << 20;

class InboxFile {
 public:
  /// The directory outlives it.
  explicit InboxFile(Directory& directory) : directory_{directory} {}

  Result<void> load();
  Result<void> add(const IncomingMessage& message, WallMs now);
  /// A notice of the relay itself. Its heading has no id, so no message looks like one.
  Result<void> add_notice(std::string_view sentence, WallMs now);

 private:
  Result<void> make_room();
  Result<void> append(const std::string& text);

  Directory& directory_;
  std::set<std::string> ids_;  // of the messages in the file
  std::size_t bytes_ = 0;
};

}  // namespace relay::host
