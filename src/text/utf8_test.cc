#include "text/utf8.h"

#include <gtest/gtest.h>

namespace relay::text {
namespace {

TEST(Utf8, DetectsMalformedSequences) {
  for (const std::string_view good :
       {"", "plain text, longer than eight", "h\u00e9", "\u20ac", "\U0001f600", "\xf4\x8f\xbf\xbf"})
    EXPECT_TRUE(is_utf8(good)) << good;
  for (const std::string_view bad :
       {"\x80", "abcdefgh\xff", "\xc3", "\xc3(", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80",
        "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\xe2\x82"})
    EXPECT_FALSE(is_utf8(bad)) << bad;
}

}  // namespace
}  // namespace relay::text
