/// The route table as a page for people: `GET /docs`. One file, no scripts, nothing from outside.
#pragma once

#include <string>
#include <string_view>

namespace relay::api {

std::string docs_page(std::string_view version);

}  // namespace relay::api
