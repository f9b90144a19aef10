#include "text/json_writer.h"

#include <gtest/gtest.h>

#include <limits>

#include "text/json_scanner.h"

namespace relay::text {
namespace {

std::string as_json(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

TEST(JsonWriter, WritesObjectsAndArrays) {
  JsonWriter writer;
  writer.field("a", 1).field("b", "x").field("c", true).field("d", 0.5).raw("e", "[1]").optional("f", "");
  writer.begin_array("g").element("y").raw_element("2").begin_element().field("h", false).end().end();
  writer.begin_object("i").end().begin_array("j").end().optional("k", "z");
  EXPECT_EQ(writer.take(), R"({"a":1,"b":"x","c":true,"d":0.5,"e":[1],"g":["y",2,{"h":false}],"i":{},"j":[],"k":"z"})");
}

TEST(JsonWriter, ClosesOpenLevels) {
  JsonWriter writer;
  writer.begin_array("a").begin_element().begin_object("b");
  EXPECT_EQ(writer.take(), R"({"a":[{"b":{}}]})");
  EXPECT_EQ(JsonWriter{}.take(), "{}");
}

TEST(JsonWriter, WritesValidNumbers) {
  JsonWriter writer;
  writer.field("a", std::numeric_limits<std::int64_t>::min()).field("b", 1e300).field("c", 1.0 / 3);
  writer.field("d", std::numeric_limits<double>::infinity()).field("e", std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(writer.take(), R"({"a":-9223372036854775808,"b":1e+300,"c":0.3333333333333333,"d":null,"e":null})");
}

TEST(JsonWriter, EscapesWhereJsonRequiresIt) {
  EXPECT_EQ(as_json("a\"b\\c\n\r\t\b\f\x01\x1f/"), R"("a\"b\\c\n\r\t\b\f\u0001\u001f/")");
  EXPECT_EQ(as_json(std::string_view("\0", 1)), R"("\u0000")");
  EXPECT_EQ(as_json("\x7f é€😀"), "\"\x7f é€😀\"");
}

TEST(JsonWriter, ReplacesMalformedUtf8) {
  const std::string mark = "\xEF\xBF\xBD";
  EXPECT_EQ(as_json("a\xFFz"), '"' + std::string{"a"} + mark + "z\"");
  EXPECT_EQ(as_json("\xC3"), '"' + mark + '"');                                   // cut short
  EXPECT_EQ(as_json("\xC0\xAF"), '"' + mark + mark + '"');                        // overlong
  EXPECT_EQ(as_json("\xED\xA0\x80"), '"' + mark + mark + mark + '"');             // a surrogate
  EXPECT_EQ(as_json("\xF4\x90\x80\x80"), '"' + mark + mark + mark + mark + '"');  // beyond Unicode
}

TEST(JsonWriter, RoundTripsThroughScanner) {
  std::string text;
  for (int byte = 0; byte < 128; ++byte) text += static_cast<char>(byte);
  text += "é€😀";
  EXPECT_EQ(decode_string(as_json(text)), text);
}

}  // namespace
}  // namespace relay::text
