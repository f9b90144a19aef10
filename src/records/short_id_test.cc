#include "records/short_id.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <set>

namespace relay::records {
namespace {

constexpr std::int64_t kFirstLongKey = std::int64_t{1} << 40;

TEST(ShortId, RoundTripsWithKey) {
  for (std::int64_t key = 0; key < 20'000; ++key) EXPECT_EQ(key_of_short_id(short_id(Key{key})), Key{key});
  for (const std::int64_t key :
       {kFirstLongKey - 1, kFirstLongKey, kFirstLongKey * 32 + 5, std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_EQ(key_of_short_id(short_id(Key{key})), Key{key}) << key;
  }
}

TEST(ShortId, IsStableForKey) {
  // Ids are quoted in messages and notes: a change here would make old ones point at other messages.
  EXPECT_EQ(short_id(Key{1}), "wvg3x89g");
  EXPECT_EQ(short_id(Key{123'456'789}), "h6dpghv3");
}

TEST(ShortId, HasEightUnambiguousCharacters) {
  for (std::int64_t key = 1; key < 5'000; ++key) {
    const auto id = short_id(Key{key});
    EXPECT_EQ(id.size(), kShortIdLength);
    EXPECT_EQ(id.find_first_of("ilouILOU"), std::string::npos) << id;
  }
  EXPECT_GT(short_id(Key{kFirstLongKey}).size(), kShortIdLength);
}

TEST(ShortId, ScattersNeighboursOverFirstCharacters) {
  std::set<std::string> beginnings;
  for (std::int64_t key = 1; key <= 1'000; ++key) beginnings.insert(short_id(Key{key}).substr(0, 4));
  EXPECT_GT(beginnings.size(), 990u);
}

TEST(ShortId, AcceptsMistypedCharacters) {
  std::int64_t read = 0;
  for (std::int64_t key = 1; key <= 1'000; ++key) {
    std::string id = short_id(Key{key});
    for (char& c : id) {
      if (c == '0')
        c = 'O';
      else if (c == '1')
        c = key % 2 == 0 ? 'l' : 'I';
      else
        c = static_cast<char>(std::toupper(c));
    }
    read += key_of_short_id(id) == Key{key} ? 1 : 0;
  }
  EXPECT_EQ(read, 1'000);
}

TEST(ShortId, RefusesInvalidIds) {
  const auto long_zero = short_id(Key{5}) + "0";
  for (const std::string_view other :
       {std::string_view{}, std::string_view{"abc"}, std::string_view{"1234567u"}, std::string_view{"1234567-"},
        std::string_view{long_zero}, std::string_view{"12345678zzzzzz"}, std::string_view{"12345678zzzzz"}}) {
    EXPECT_EQ(key_of_short_id(other), std::nullopt) << other;
  }
}

TEST(KeysMatching, FindsEveryKeyOfAPrefixInOrder) {
  for (const std::int64_t newest : {std::int64_t{20'000}, std::int64_t{60'000}}) {  // both ways of searching
    const auto prefix = short_id(Key{4'711}).substr(0, 5);
    std::vector<Key> expected;
    for (std::int64_t key = 1; key <= newest; ++key) {
      if (short_id(Key{key}).starts_with(prefix)) expected.emplace_back(key);
    }
    EXPECT_EQ(keys_matching(prefix, {Key{1}, Key{newest}}), expected);
    EXPECT_TRUE(std::find(expected.begin(), expected.end(), Key{4'711}) != expected.end());
  }
}

TEST(KeysMatching, AcceptsWholeIdUpToNewestKey) {
  const auto id = short_id(Key{77});
  EXPECT_EQ(keys_matching(id, {Key{1}, Key{77}}), std::vector<Key>{Key{77}});
  EXPECT_TRUE(keys_matching(id, {Key{1}, Key{76}}).empty());
  EXPECT_TRUE(keys_matching(id, {Key{1}, Key{0}}).empty());
  const auto long_id = short_id(Key{kFirstLongKey + 3});
  EXPECT_EQ(keys_matching(long_id, {Key{1}, Key{kFirstLongKey * 2}}), std::vector<Key>{Key{kFirstLongKey + 3}});
}

TEST(KeysMatching, SearchesOnlyBetweenOldestAndNewest) {
  for (const std::int64_t oldest : {std::int64_t{1} << 38, kFirstLongKey - 500}) {
    const auto prefix = short_id(Key{oldest + 700}).substr(0, 5);
    for (const std::int64_t count : {std::int64_t{20'000}, std::int64_t{60'000}}) {  // both ways of searching
      std::vector<Key> expected;
      for (std::int64_t key = oldest; key < oldest + count; ++key) {
        if (short_id(Key{key}).starts_with(prefix)) expected.emplace_back(key);
      }
      EXPECT_EQ(keys_matching(prefix, {Key{oldest}, Key{oldest + count - 1}}), expected);
    }
  }
}

TEST(KeysMatching, RefusesShortOrInvalidPrefixes) {
  EXPECT_TRUE(keys_matching("abc", {Key{1}, Key{1'000'000}}).empty());
  EXPECT_TRUE(keys_matching("ab*d", {Key{1}, Key{1'000'000}}).empty());
}

TEST(KeysMatching, ReturnsAtMostMaxKeys) {
  const auto prefix = short_id(Key{9}).substr(0, 4);
  EXPECT_EQ(keys_matching(prefix, {Key{1}, Key{kFirstLongKey * 1'000}}, 3).size(), 3u);
  const auto all = keys_matching(short_id(Key{9}), {Key{1}, Key{kFirstLongKey * 1'000}}, 5);
  EXPECT_EQ(all.size(), 5u);
  EXPECT_EQ(all.front(), Key{9});
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
}

TEST(DeliveryId, IsShortIdWithPrefix) {
  EXPECT_EQ(delivery_id(Key{42}), "d-" + short_id(Key{42}));
  EXPECT_EQ(key_of_delivery_id(delivery_id(Key{42})), Key{42});
  EXPECT_EQ(key_of_delivery_id(short_id(Key{42})), std::nullopt);
  EXPECT_EQ(key_of_delivery_id("d-"), std::nullopt);
  EXPECT_EQ(key_of_delivery_id("m-001"), std::nullopt);
}

}  // namespace
}  // namespace relay::records
