#include "net/request_target.h"

#include <gtest/gtest.h>

#include "net/server_request.h"

namespace relay::net {
namespace {

using Segments = std::vector<std::string>;

void expect_refused(std::string_view path, TargetErrc code) {
  const auto segments = path_segments(path);
  ASSERT_FALSE(segments.has_value()) << path;
  EXPECT_TRUE(is(segments.error(), code)) << path << ": " << segments.error().message();
  EXPECT_FALSE(segments.error().message().empty());
}

void expect_query_refused(std::string_view text, TargetErrc code) {
  const auto query = QueryParameters::parse(text);
  ASSERT_FALSE(query.has_value()) << text;
  EXPECT_TRUE(is(query.error(), code)) << text << ": " << query.error().message();
}

TEST(PathSegments, AreSplitBeforeDecoding) {
  EXPECT_EQ(*path_segments("/"), Segments{});
  EXPECT_EQ(*path_segments("/api/v1/agents"), (Segments{"api", "v1", "agents"}));
  EXPECT_EQ(*path_segments("/agents/"), Segments{"agents"});
  EXPECT_EQ(*path_segments("/a%2Fb/J%c3%bcrgen"), (Segments{"a/b", "Jürgen"}));
  EXPECT_EQ(*path_segments("/a+b"), Segments{"a+b"}) << "only a form's '+' is a blank";
}

TEST(PathSegments, RefuseEmptyAndRelativeSegments) {
  for (const auto* path : {"", "agents", "//", "/a//b", "/./a", "/a/..", "/%2e%2E/etc", "*"})
    expect_refused(path, TargetErrc::BadSegment);
}

TEST(PathSegments, RefuseInvalidEscapes) {
  for (const auto* path : {"/%", "/%2", "/%zz", "/a%2", "/%%41"}) expect_refused(path, TargetErrc::BadEscape);
  for (const auto* path : {"/%00", "/%0a", "/%7f", "/%ff", "/%c0%af", "/%ed%a0%80", "/\xff"})
    expect_refused(path, TargetErrc::BadText);
}

TEST(PathSegments, AreBoundedInNumberAndLength) {
  std::string path;
  for (std::size_t i = 0; i < kMaxPathSegments; ++i) path += "/a";
  EXPECT_EQ(path_segments(path)->size(), kMaxPathSegments);
  expect_refused(path + "/a", TargetErrc::TooMany);
  EXPECT_TRUE(path_segments("/" + std::string(kMaxTargetPartBytes, 'a')).has_value());
  expect_refused("/" + std::string(kMaxTargetPartBytes + 1, 'a'), TargetErrc::TooLong);
}

TEST(Query, KeepsPairsInOrder) {
  EXPECT_EQ(QueryParameters::parse("")->pairs(), std::vector<QueryPair>{});
  EXPECT_EQ(QueryParameters::parse("a=1&b=x+y%26z&flag&=v&a=2&&c==")->pairs(),
            (std::vector<QueryPair>{{"a", "1"}, {"b", "x y&z"}, {"flag", ""}, {"", "v"}, {"a", "2"}, {"c", "="}}));
  const auto query = *QueryParameters::parse("a=1&a=2&flag");
  EXPECT_EQ(query.find("a"), "1");
  EXPECT_EQ(query.find("flag"), "");
  EXPECT_EQ(query.find("A"), std::nullopt);
}

TEST(Query, RefusesMalformedInput) {
  expect_query_refused("a=%", TargetErrc::BadEscape);
  expect_query_refused("%g0=1", TargetErrc::BadEscape);
  expect_query_refused("a=%00", TargetErrc::BadText);
  expect_query_refused("a=%80", TargetErrc::BadText);
  expect_query_refused("a=" + std::string(kMaxTargetPartBytes + 1, 'x'), TargetErrc::TooLong);
  std::string many = "a";
  for (std::size_t i = 1; i < kMaxQueryPairs; ++i) many += "&a";
  EXPECT_EQ(QueryParameters::parse(many)->pairs().size(), kMaxQueryPairs);
  expect_query_refused(many + "&a", TargetErrc::TooMany);
}

TEST(PercentEncoded, RoundTripsThroughBothParsers) {
  const std::string name = "a/b c+d%&=?é~";
  EXPECT_EQ(*path_segments("/" + percent_encoded(name)), Segments{name});
  EXPECT_EQ(QueryParameters::parse("x=" + percent_encoded(name))->find("x"), name);
}

TEST(HttpHeaders, IgnoreCaseOfNames) {
  HttpHeaders headers;
  headers.add("Content-Type", "text/plain");
  headers.add("X", "1");
  headers.add("x", "2");
  headers.add("Connection", "keep-alive , UPGRADE,,");
  EXPECT_EQ(headers.find("content-TYPE"), "text/plain");
  EXPECT_EQ(headers.find("X"), "1");
  EXPECT_EQ(headers.count("x"), 2u);
  EXPECT_EQ(headers.find("Y"), std::nullopt);
  EXPECT_TRUE(headers.lists("connection", "upgrade"));
  EXPECT_TRUE(headers.lists("connection", "Keep-Alive"));
  EXPECT_FALSE(headers.lists("connection", "keep"));
  EXPECT_FALSE(headers.lists("none", "keep"));
}

}  // namespace
}  // namespace relay::net
