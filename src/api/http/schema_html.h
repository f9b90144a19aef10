/// A JSON Schema of the OpenAPI document as people read it, in HTML.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace relay::api {

std::string escape_html(std::string_view text);
/// The same; what stands between backticks is code.
std::string prose_html(std::string_view text);

/// "text, 1 to 128", "list of Agent": with a link to what has a name.
std::string type_html(const json::object& schema);
/// A table of its members, those of `$ref` and `allOf` among them; empty when it has none.
std::string members_html(const json::object& schema, const json::object& schemas);

}  // namespace relay::api
