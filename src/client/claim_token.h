/// The secret that keeps an agent's name for its program, also across restarts: who knows it owns the name.
#pragma once

#include <string>

#include "base/directory.h"
#include "base/random.h"

namespace relay::client {

/// The token in that file, made at the first call.
Result<std::string> load_or_create_claim_token(Directory& directory, const std::string& name, Random& random);

}  // namespace relay::client
