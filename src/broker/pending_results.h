/// Open queries of one kind with their continuations.
#pragma once

#include <functional>
#include <map>
#include <utility>

#include "base/result.h"
#include "broker/effects.h"

namespace relay::broker {

template <class Value>
class PendingResults {
 public:
  using Then = std::move_only_function<void(Result<Value>)>;

  void add(QueryId id, Then then) { open_.emplace(id, std::move(then)); }
  /// Without effect when no such query is open.
  void complete(QueryId id, Result<Value> result) {
    if (auto query = open_.extract(id); !query.empty()) query.mapped()(std::move(result));
  }

 private:
  std::map<QueryId, Then> open_;
};

}  // namespace relay::broker
