/// Secrets taken out of what is written.
///
/// Why by shape: nobody tells us what is secret. Tokens with a well-known beginning, private keys, authorization
///   headers, passwords in addresses and values assigned to names like `password` or `api_key` are replaced; a name, a
///   path, a command stays readable around them.
/// Invariants: a found secret leaves no byte behind but its kind, as in `[redacted:github]`; linear in the length of
///   the text; redacting twice changes nothing. Threading: any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace relay::capture {

/// Any bytes.
std::string redact(std::string_view text);

/// Every string inside; a string under a name like `password` wholly.
void redact(json::value& value);

}  // namespace relay::capture
