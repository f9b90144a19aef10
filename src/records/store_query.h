/// Any query of the store, and the type of its result.
///
/// Invariant: the alternatives of StoreQuery and StoreResult correspond by position.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "records/queries.h"

namespace relay::records {

struct TraceQuery {
  std::string id;
};
struct StatsQuery {};
struct SessionQuery {
  SessionId id;
};

using StoreQuery = std::variant<MessageQuery, TraceQuery, StatsQuery, HeldRequest, DeliveryQuery, EventQuery,
                                UsageQuery, SessionQuery>;
using StoreResult = std::variant<std::vector<MessageRow>, Trace, StoreStats, HeldPage, std::vector<DeliveryRow>,
                                 EventPage, std::vector<UsageSum>, SessionRow>;
static_assert(std::variant_size_v<StoreQuery> == std::variant_size_v<StoreResult>);

template <class Query, std::size_t position = 0>
consteval std::size_t query_position() {
  static_assert(position < std::variant_size_v<StoreQuery>, "no query of the store");
  if constexpr (std::same_as<Query, std::variant_alternative_t<position, StoreQuery>>)
    return position;
  else
    return query_position<Query, position + 1>();
}

/// The result type of a query.
template <class Query>
using ResultOf = std::variant_alternative_t<query_position<Query>(), StoreResult>;

}  // namespace relay::records
