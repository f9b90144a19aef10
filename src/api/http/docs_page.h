/// The OpenAPI document as a page for people: `GET /docs`. One file, nothing from outside.
///
/// Why from the document and not from the table: whatever the document says is on the page, and they cannot differ.
/// Without its script, which filters and opens what the address names, everything is there to be read.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace relay::api {

/// Where the reader found us, for lines to paste: "http://127.0.0.1:3888". A host that is no plain name is not repeated.
std::string docs_server(std::string_view host);
/// The page's Content-Security-Policy. A header, not a tag of the page: only there `frame-ancestors` counts.
std::string docs_policy();
std::string docs_page(const json::object& document, std::string_view server);

}  // namespace relay::api
