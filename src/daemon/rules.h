/// The rules of config.toml as values (policy_file_watcher.h). Null: nothing is approved without the user, and agents
/// start no others.
#pragma once

#include <memory>

#include "broker/spawn_policy.h"
#include "permissions/policy.h"

namespace relay::daemon {

/// Without a value nothing is approved, and agents start no others.
struct Rules {
  std::shared_ptr<const permissions::Policy> permissions = nullptr;
  std::shared_ptr<const broker::SpawnPolicy> spawn = nullptr;
};

}  // namespace relay::daemon
