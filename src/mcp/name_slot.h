/// A name for a session that was given none, the same one the next time.
///
/// Why not a fresh name each time: mail for it, and what it said while the daemon was away, belong to the name. The first
///   server of a project always gets the first slot's name, a second one beside it the second's, and so on.
/// Invariants: a slot is held by one program at a time (a lock), at most kMaxNameSlots.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/directory.h"
#include "base/result.h"

namespace relay::mcp {

inline constexpr int kMaxNameSlots = 64;

struct NameSlot {
  std::string name;
  std::unique_ptr<DirectoryLock> lock;
};

/// `fresh` makes a name nobody has.
Result<NameSlot> take_name(Directory& directory, const std::function<std::string()>& fresh);

}  // namespace relay::mcp
