#include <gtest/gtest.h>

#include "base/base64.h"
#include "base/comma_list.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/quantile.h"
#include "base/random.h"
#include "base/result.h"

namespace relay {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return fail("odd");
  return number / 2;
}

Result<int> quarter(int number) { return half(RELAY_TRY(half(number))); }

TEST(Result, ReturnsErrorToCaller) {
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(quarter(6).error().message(), "odd");
}

TEST(Quantile, ReturnsValueAtShare) {
  EXPECT_EQ(quantile({5, 1, 4, 2, 3}, 0.5), 3);
  EXPECT_EQ(quantile({5, 1, 4, 2, 3}, 0.999), 5);
  EXPECT_EQ(quantile({}, 0.5), 0);
}

TEST(Hash, MatchesStandardVector) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Base64, EncodesEveryRemainder) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("\xff\xfe\xfd"), "//79");
}

TEST(Random, RepeatsASeed) {
  SeededRandom a{7};
  SeededRandom b{7};
  EXPECT_EQ(a.hex(20), b.hex(20));
  EXPECT_EQ(a.hex(3).size(), 6u);
}

TEST(Json, NamesWhatItGotInsteadOfObject) {
  EXPECT_EQ(parse_json_object("[1]").error().message(), "expected a JSON object, got an array");
  EXPECT_FALSE(parse_json_object("{\"a\":").has_value());
}

TEST(Json, RefusesNestingBomb) { EXPECT_FALSE(parse_json(std::string(100'000, '[')).has_value()); }

TEST(Json, AcceptsWholeNumbersInAnyNotation) {
  const auto object = *parse_json_object(R"({"a":5,"b":5.0,"c":5.5,"d":"5"})");
  EXPECT_EQ(integer_member(object, "a"), 5);
  EXPECT_EQ(integer_member(object, "b"), 5);
  EXPECT_EQ(integer_member(object, "c"), std::nullopt);
  EXPECT_EQ(integer_member(object, "d"), std::nullopt);
}

TEST(CommaList, SplitsAtCommas) {
  using Parts = std::vector<std::string_view>;
  EXPECT_EQ(comma_list("a, b c ,,d"), (Parts{"a", "b c", "d"}));
  EXPECT_EQ(comma_list(""), Parts{});
  EXPECT_EQ(comma_list(" , "), Parts{});
}

}  // namespace
}  // namespace relay
