#include "store/sqlite/names.h"

namespace relay::store {

Result<std::optional<std::int64_t>> find_name(SqliteConnection& connection, std::string_view name) {
  const auto find = RELAY_TRY(connection.use("SELECT id FROM names WHERE name=?1"));
  find->bind(name);
  if (!RELAY_TRY(find->step())) return std::optional<std::int64_t>{};
  return std::optional{find->integer(0)};
}

Result<std::int64_t> SqliteNames::number(std::string_view name) {
  if (const auto found = numbers_.find(name); found != numbers_.end()) return found->second;
  auto number = RELAY_TRY(find_name(connection_, name));
  if (!number) {
    const auto add = RELAY_TRY(connection_.use("INSERT INTO names(name) VALUES(?1) RETURNING id"));
    add->bind(name);
    RELAY_TRY(add->step());
    number = add->integer(0);
    RELAY_TRY(add->run());
  }
  if (numbers_.size() >= kMaxCachedNames) numbers_.clear();
  numbers_.emplace(name, *number);
  return *number;
}

}  // namespace relay::store
