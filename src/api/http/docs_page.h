/// The OpenAPI document as an HTML page, served by `GET /docs`. The page loads nothing from outside.
///
/// Why from the document and not from the route table: page and document then cannot differ.
/// The script filters operations and opens the one named in the address. Without it the whole page is readable.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace relay::api {

/// The base URL for the curl examples, from the Host header. A host with other characters than a name has is not used.
std::string docs_server(std::string_view host);
/// The page's Content-Security-Policy. It is a header because `frame-ancestors` has no effect in a <meta> tag.
std::string docs_policy();
std::string docs_page(const json::object& document, std::string_view server);

}  // namespace relay::api
