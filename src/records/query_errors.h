/// Why a query about one thing has no result although the store works. All other errors are failures of the store.
#pragma once

#include <cstdint>
#include <string_view>

namespace relay::records {

enum class QueryErrc : std::uint8_t {
  NotFound,
  Ambiguous,  // several ids have the prefix
};
std::string_view describe(QueryErrc code);

}  // namespace relay::records
