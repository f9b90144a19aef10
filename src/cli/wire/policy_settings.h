/// The permission rules of config.toml, as the daemon reads them.
#pragma once

#include "config/settings.h"
#include "permissions/policy_file.h"

namespace relay::cli {

inline Result<permissions::Policy> load_policy(const config::Home& home) {
  const auto text = RELAY_TRY(config::read_config(home.config_file));
  return permissions::parse_policy(text, home.config_file);
}

}  // namespace relay::cli
