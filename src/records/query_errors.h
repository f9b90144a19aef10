/// Why a question about one thing has no answer although the store is sound. Whatever else fails is trouble of the
/// store's.
#pragma once

#include <cstdint>
#include <string_view>

namespace relay::records {

enum class QueryErrc : std::uint8_t {
  NotFound,
  Ambiguous,  // a prefix fits several ids
};
std::string_view describe(QueryErrc code);

}  // namespace relay::records
