/// Removes secrets from text before it is written.
///
/// Why by shape: there is no list of secrets. Tokens with a well-known prefix, private keys, authorization headers,
///   passwords in addresses and values assigned to names like `password` or `api_key` are replaced; names, paths and
///   commands around them stay readable.
/// Invariants: only the kind of a secret remains, as in `[redacted:github]`; linear in the length of the text;
///   redacting twice changes nothing. Threading: any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace relay::capture {

/// Accepts any bytes.
std::string redact(std::string_view text);

/// Redacts every string inside, and the whole string under a name like `password`.
void redact(json::value& value);

}  // namespace relay::capture
