/// Renders a JSON Schema of the OpenAPI document as HTML.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace relay::api {

std::string escape_html(std::string_view text);
/// Escaped text in which `…` becomes <code>.
std::string prose_html(std::string_view text);

/// "string, 1 to 128", "list of Agent"; named schemas are links.
std::string type_html(const json::object& schema);
/// A table of the members, including those of `$ref` and `allOf`; empty when there are none.
std::string members_html(const json::object& schema, const json::object& schemas);

}  // namespace relay::api
