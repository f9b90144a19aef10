/// The route table as an OpenAPI 3.1 document: `GET /openapi.json`, `agent-relay openapi`, docs/api/openapi.json.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace relay::api {

json::object openapi_document(std::string_view version);
/// The document as indented text with a stable order of members.
std::string openapi_text(std::string_view version);

}  // namespace relay::api
