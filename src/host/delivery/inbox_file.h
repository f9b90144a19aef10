/// `team/<agent>/inbox.md`: a copy of the agent's messages, readable at any time.
///
/// A copy is neither a delivery nor a proof.
/// Invariants: a message that the file holds is not written again, also when a later host gets it; at kMaxInboxBytes the
///   file becomes `inbox.old.md` and a new one is created.
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
  /// A notice of the relay. Its heading has no id, so a message cannot imitate it.
  Result<void> add_notice(std::string_view notice, WallMs now);

 private:
  Result<void> rotate_if_full();
  Result<void> append(const std::string& text);

  Directory& directory_;
  std::set<std::string> ids_;  // of the messages in the file
  std::size_t bytes_ = 0;
};

}  // namespace relay::host
