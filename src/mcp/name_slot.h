/// Gives a session without a configured name the same name each time.
///
/// Why not a fresh name: pending messages and the outbox belong to the name. The first server of a project always takes
///   the name of the first slot, a second server that runs at the same time that of the second slot, and so on.
/// Invariants: a lock keeps a slot to one program at a time; at most kMaxNameSlots.
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

/// `fresh` returns an unused name.
Result<NameSlot> take_name(Directory& directory, const std::function<std::string()>& fresh);

}  // namespace relay::mcp
