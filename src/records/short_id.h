/// The ids users see: eight characters that look random and encode the key.
///
/// A key is a counter, so neighbours would look alike and a prefix would not distinguish them. A fixed bijection on 40
/// bits scatters them, and reading one back needs no index on random text (measurements showed such an index to be
/// slow). A prefix of n characters matches 32^(8-n) keys; `keys_matching` tests only those between the oldest and
/// the newest.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/names.h"

namespace relay::records {

inline constexpr std::size_t kShortIdLength = 8;
inline constexpr std::size_t kMinPrefixLength = 4;

std::string short_id(Key key);
std::optional<Key> key_of_short_id(std::string_view id);

struct KeyRange {
  Key oldest, newest;  // both included
};
/// Keys in the range whose short id starts with `prefix` (at least kMinPrefixLength), ascending, at most `max_keys`.
std::vector<Key> keys_matching(std::string_view prefix, KeyRange range, std::size_t max_keys = 1024);

/// The wire id of a delivery, e.g. `d-7kq2m9xa`, and back.
std::string delivery_id(Key key);
std::optional<Key> key_of_delivery_id(std::string_view id);

}  // namespace relay::records
