/// A process that stores messages behind the journal until it is killed.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "base/result.h"
#include "store/sqlite/store.h"

namespace relay::damage {

struct Stored {
  std::set<std::int64_t> acknowledged;  // keys of messages
  std::int64_t last_sent = 0;           // keys up to here may exist
};

/// The body of a message, derived from its key: a reader detects a damaged one.
std::string body_of(std::int64_t key);

store::SqliteOptions options_of(const std::string& directory, store::Durability durability);

/// Forks a child that stores messages after `first_key`, and kills it with -9 once it has acknowledged this many.
Result<Stored> store_and_kill(const std::string& directory, store::Durability durability, std::int64_t first_key,
                              std::size_t messages);

}  // namespace relay::damage
