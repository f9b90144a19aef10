/// The secret that reserves an agent's name for its program, including across restarts: the holder of the token owns
/// the name.
#pragma once

#include <string>

#include "base/directory.h"
#include "base/random.h"

namespace relay::client {

/// The token in that file, which the first call creates.
Result<std::string> load_or_create_claim_token(Directory& directory, const std::string& name, Random& random);

}  // namespace relay::client
