/// Names as small integers: each agent, channel and address is written once. Private to src/store.
///
/// Invariants: the cache holds only what the database holds; after a rollback it is emptied, because names given in
/// the lost group are gone. Bounded: emptied when it reaches kMaxCachedNames.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "store/sqlite/connection.h"

namespace relay::store {

class SqliteNames {
 public:
  explicit SqliteNames(SqliteConnection& connection) : connection_{connection} {}

  /// The number of a name, given one if it is new.
  Result<std::int64_t> number(std::string_view name);
  void clear_cache() { numbers_.clear(); }

 private:
  static constexpr std::size_t kMaxCachedNames = 65'536;

  struct ByText : std::hash<std::string_view> {
    using is_transparent = void;
  };

  SqliteConnection& connection_;
  std::unordered_map<std::string, std::int64_t, ByText, std::equal_to<>> numbers_;
};

/// The number of a name that exists already.
Result<std::optional<std::int64_t>> find_name(SqliteConnection& connection, std::string_view name);

}  // namespace relay::store
