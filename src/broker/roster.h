/// One row of the roster (agents.json, LIST_AGENTS).
#pragma once

#include <string>

#include "records/records.h"

namespace relay::broker {

struct RosterEntry {
  records::Agent agent;
  bool connected = false;
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::uint64_t pending = 0;
  std::string state = {};         // as its session reports; empty when it is not connected or never did
  std::string reason = {};        // why its deliveries are pending
  std::string capabilities = {};  // as its session reports: a JSON object
  std::uint64_t held = 0;         // of `pending`, those held by time, policy or mode
  std::string session = {};       // its id, while it is connected
  WallMs offline_since = 0;       // 0 while it is connected
};

}  // namespace relay::broker
