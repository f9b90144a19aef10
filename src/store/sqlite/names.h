/// Names as small integers: each agent, channel and address is stored once. Private to src/store.
///
/// Invariants: the cache holds only what the database holds; a rollback clears it, because names added in the group are
///   gone. Bounded: cleared when it reaches kMaxCachedNames.
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

  /// The number of a name; a new name gets one.
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

/// The number of a name; empty when the name is unknown.
Result<std::optional<std::int64_t>> find_name(SqliteConnection& connection, std::string_view name);

}  // namespace relay::store
