/// Short ids are a bijection of keys: an id is parsed back to its key, for any user input.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "check.h"
#include "records/short_id.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace relay;
  using namespace relay::records;
  const std::string_view text{reinterpret_cast<const char*>(data), size};

  if (const auto key = key_of_short_id(text)) {
    FUZZ_CHECK(key->value() >= 0);
    FUZZ_CHECK(key_of_short_id(short_id(*key)) == *key);
    FUZZ_CHECK(short_id(*key).size() == text.size());
  }
  if (const auto key = key_of_delivery_id(text)) FUZZ_CHECK(key_of_delivery_id(delivery_id(*key)) == *key);

  std::int64_t number = 0;
  std::memcpy(&number, data, std::min(size, sizeof number));
  const Key key{number & INT64_MAX};
  FUZZ_CHECK(key_of_short_id(short_id(key)) == key);

  if (size > 2 && size < 12) {
    // Only long prefixes or few keys: other searches take milliseconds.
    const Key newest{text.size() >= 6 ? key.value() : key.value() % 100'000};
    const auto keys = keys_matching(text, {Key{1}, newest}, 16);
    FUZZ_CHECK(keys.size() <= 16 && std::is_sorted(keys.begin(), keys.end()));
    for (const Key found : keys) FUZZ_CHECK(found.value() >= 1 && found <= newest);
  }
  return 0;
}
