#include "text/json_scanner.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "text/json_errors.h"

namespace relay::text {
namespace {

class Recorder final : public MemberVisitor, public ElementVisitor {
 public:
  void member(std::string_view key, JsonSlice value) override {
    seen.emplace_back(key, value.raw);
    kind = value.kind;
  }
  void element(JsonSlice value) override { seen.emplace_back("", value.raw); }
  std::vector<std::pair<std::string, std::string>> seen;
  JsonKind kind{};
};

Result<void> scan(std::string_view text) {
  Recorder recorder;
  return scan_object(text, recorder);
}

/// One member `a` with this value.
Result<void> scan_value(std::string_view value) { return scan(format("{{\"a\":{}}}", value)); }

bool refused(std::string_view text, JsonErrc code) {
  const auto result = scan(text);
  return !result && is(result.error(), code);
}

std::string nested(std::size_t levels) {
  std::string text;
  for (std::size_t i = 1; i < levels; ++i) text += R"({"a":)";
  text += "{}";
  text.append(levels - 1, '}');
  return text;
}

TEST(JsonScanner, VisitsMembersAsExactBytes) {
  Recorder recorder;
  ASSERT_TRUE(scan_object(" { \"a\" : 1 ,\n\"b\":\"x\\n\", \"c\": [1, {\"d\":null} ] ,\"\":true}\t", recorder));
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"a", "1"}, {"b", "\"x\\n\""}, {"c", "[1, {\"d\":null} ]"}, {"", "true"}};
  EXPECT_EQ(recorder.seen, expected);
}

TEST(JsonScanner, ReportsKindOfEachValue) {
  const std::vector<std::pair<std::string, JsonKind>> kinds = {
      {"null", JsonKind::Null},   {"true", JsonKind::Bool}, {"false", JsonKind::Bool}, {"-1.5e3", JsonKind::Number},
      {"\"\"", JsonKind::String}, {"[]", JsonKind::Array},  {"{}", JsonKind::Object}};
  for (const auto& [value, kind] : kinds) {
    Recorder recorder;
    ASSERT_TRUE(scan_object(format("{{\"a\":{}}}", value), recorder)) << value;
    EXPECT_EQ(recorder.kind, kind) << value;
  }
}

TEST(JsonScanner, VisitsArrayElements) {
  Recorder recorder;
  ASSERT_TRUE(scan_array(R"( [1,"two", [3] ] )", recorder));
  const std::vector<std::pair<std::string, std::string>> expected = {{"", "1"}, {"", "\"two\""}, {"", "[3]"}};
  EXPECT_EQ(recorder.seen, expected);
  EXPECT_TRUE(scan_array("[]", recorder));
  for (const auto* bad : {"{}", "[1,]", "[", "[1", "[1 2]", "[]x", ""}) EXPECT_FALSE(scan_array(bad, recorder)) << bad;
}

TEST(JsonScanner, AcceptsExactlyTheNumbersOfTheGrammar) {
  for (const auto* good : {"0", "-0", "10", "1.5", "1e3", "1E+3", "1e-3", "123456789012345678901234567890", "1e999"}) {
    EXPECT_TRUE(scan_value(good)) << good;
  }
  for (const auto* bad : {"01", "-", "+1", ".5", "1.", "1.e3", "1e", "1e+", "0x1", "NaN", "Infinity", "--1", "1-"}) {
    EXPECT_FALSE(scan_value(bad)) << bad;
  }
}

TEST(JsonScanner, AcceptsExactlyTheEscapesOfTheGrammar) {
  EXPECT_TRUE(scan_value(R"("\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00")"));
  for (const auto* bad : {R"("\x")", R"("\u12")", R"("\u12g4")", R"("\)", R"("\u)", R"("\U0041")"}) {
    EXPECT_FALSE(scan_value(bad)) << bad;
  }
}

TEST(JsonScanner, RefusesLoneSurrogates) {
  for (const auto* bad : {R"("\uD800")", R"("\uDC00")", R"("\uD800\uD800")", R"("\uD83Dx")", R"("\uD83D\n")",
                          R"("\uDE00\uD83D")", R"("\uD83D\u0041")", R"("\uD83D\u12)"}) {
    EXPECT_FALSE(scan_value(bad)) << bad;
  }
}

TEST(JsonScanner, RefusesControlCharactersInStrings) {
  for (std::size_t length = 0; length < 40; ++length) {
    for (const char control : {'\0', '\n', '\t', '\x1f'}) {
      const std::string value = '"' + std::string(length, 'x') + control + std::string(20, 'y') + '"';
      EXPECT_FALSE(scan_value(value)) << length;
    }
    EXPECT_TRUE(scan_value('"' + std::string(length, 'x') + "\x7f" + '"'));
    EXPECT_TRUE(scan_value('"' + std::string(length, '\xC3') + '"')) << "UTF-8 is checked elsewhere";
  }
}

TEST(JsonScanner, RefusesMalformedJson) {
  for (const auto* bad : {"",
                          " ",
                          "{",
                          "}",
                          "{\"a\"}",
                          "{\"a\":}",
                          "{\"a\":1,}",
                          "{,}",
                          "{\"a\":1 \"b\":2}",
                          "{a:1}",
                          "{\"a\":tru}",
                          "{\"a\":nulll}",
                          "{\"a\":[1,]}",
                          "{\"a\":[1}",
                          "{\"a\":{]}",
                          "{}{}",
                          "{}x",
                          "{\"a\":'x'}",
                          "{\"a\":\"x}",
                          "\xEF\xBB\xBF{}",
                          "{\"a\":{\"b\"}}",
                          "{\"a\":{\"b\":1,}}",
                          "{\"a\":[,]}",
                          "{\"a\":1}}",
                          "// c\n{}"}) {
    EXPECT_TRUE(refused(bad, JsonErrc::BadJson)) << bad;
  }
}

TEST(JsonScanner, RefusesTruncationAtEveryByte) {
  const std::string text = R"({"a":[1,{"b":"x\u00e9\n"},-1.5e+3,true,null],"c":{}})";
  ASSERT_TRUE(scan(text));
  for (std::size_t cut = 0; cut < text.size(); ++cut) EXPECT_FALSE(scan(text.substr(0, cut))) << cut;
}

TEST(JsonScanner, ReportsJsonThatIsNotAnObject) {
  for (const auto* other : {"5", "[]", "null", "\"x\"", " true "})
    EXPECT_TRUE(refused(other, JsonErrc::NotAnObject)) << other;
  EXPECT_EQ(scan("[1]").error().message(), "expected a JSON object, found another JSON value");
}

TEST(JsonScanner, ErrorNamesOffsetAndReason) {
  EXPECT_EQ(scan(R"({"a" 1})").error().message(), "this is not valid JSON: expected a colon after a key at byte 5");
}

TEST(JsonScanner, AcceptsNestingUpToTheLimit) {
  EXPECT_TRUE(scan(nested(kMaxJsonDepth)));
  EXPECT_TRUE(refused(nested(kMaxJsonDepth + 1), JsonErrc::TooDeep));
  Recorder recorder;
  EXPECT_TRUE(scan_object("{\"a\":[]}", recorder, kMaxJsonDepth - 2));
  EXPECT_FALSE(scan_object("{\"a\":[]}", recorder, kMaxJsonDepth - 1));
}

TEST(JsonScanner, SurvivesNestingBomb) {
  EXPECT_TRUE(refused("{\"a\":" + std::string(1'000'000, '['), JsonErrc::TooDeep));
  std::string braces;
  for (int i = 0; i < 100'000; ++i) braces += "{\"a\":";
  EXPECT_TRUE(refused(braces, JsonErrc::TooDeep));
}

TEST(JsonScanner, RefusesDuplicateKeys) {
  EXPECT_EQ(scan(R"({"id":1,"to":2,"id":3})").error().message(), "the key \"id\" appears twice in one object");
  EXPECT_TRUE(scan(R"({"a":{"x":1,"x":2}})")) << "only the visited level is checked";
}

TEST(JsonScanner, FindsDuplicateAmongThousandsOfKeysInBoundedTime) {
  std::string text = "{";
  for (int i = 0; i < 100'000; ++i) text += format("\"{}\":0,", i);
  EXPECT_TRUE(scan(text + "\"x\":0}"));
  EXPECT_TRUE(refused(text + "\"7\":0}", JsonErrc::BadJson));
  EXPECT_TRUE(refused(text + "\"99999\":0}", JsonErrc::BadJson));
}

TEST(JsonScanner, RefusesKeysWithEscapesAtTheVisitedLevel) {
  EXPECT_TRUE(refused(R"({"\u0069d":1})", JsonErrc::BadJson));
  EXPECT_TRUE(scan(R"({"a":{"\u0069d":1}})"));
}

TEST(JsonDecode, ResolvesEscapes) {
  EXPECT_EQ(decode_string(R"("plain")"), "plain");
  EXPECT_EQ(decode_string(R"("a\"\\\/\b\f\n\r\tz")"), "a\"\\/\b\f\n\r\tz");
  EXPECT_EQ(decode_string(R"("\u0041\u00e9\u20AC\uD83D\uDE00!")"), "Aé€😀!");
  EXPECT_EQ(decode_string(R"("\u0000")"), std::string(1, '\0'));
  EXPECT_TRUE(is_plain_string(R"("plain")"));
  EXPECT_FALSE(is_plain_string(R"("a\n")"));
}

TEST(JsonDecode, StaysInBoundsOnUncheckedInput) {
  for (const auto* odd : {"", "\"", "\"\\\"", "\"\\u\"", "\"\\uD83D\"", "\"\\uD83D\\u\"", "\"\\uzzzz\"", "x"}) {
    EXPECT_LE(decode_string(odd).size(), std::string_view{odd}.size()) << odd;
  }
}

TEST(JsonDecode, AcceptsWholeNumbersInAnyNotation) {
  EXPECT_EQ(decode_integer("5"), 5);
  EXPECT_EQ(decode_integer("-5.0"), -5);
  EXPECT_EQ(decode_integer("1e3"), 1000);
  EXPECT_EQ(decode_integer("1.5e1"), 15);
  EXPECT_EQ(decode_integer("9223372036854775807"), 9223372036854775807);
  for (const auto* other : {"5.5", "9223372036854775808", "1e30", "1e999", "", "x", "5x"}) {
    EXPECT_EQ(decode_integer(other), std::nullopt) << other;
  }
  EXPECT_EQ(decode_number("2.5"), 2.5);
  EXPECT_EQ(decode_number("1e999"), std::nullopt);
}

}  // namespace
}  // namespace relay::text
