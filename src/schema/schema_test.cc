#include "schema/schema.h"

#include <gtest/gtest.h>

namespace relay {
namespace {

struct Maybe {
  schema::Nullable<std::string> value = {};
};

enum class Colour : std::uint8_t { Red, DarkBlue };
struct Inner {
  std::string name = {};
  std::optional<std::int64_t> size = {};
  bool operator==(const Inner&) const = default;
};
struct Outer {
  std::string text = {};
  Colour colour{};
  bool flag = false;
  double share = 0;
  std::uint32_t count = 0;
  Inner inner = {};
  std::vector<Inner> list = {};
  std::map<std::string, std::int64_t> map = {};
  std::optional<std::vector<std::string>> words = {};
  json::object any = {};
};

}  // namespace

template <>
inline constexpr auto schema::kChoices<Colour> =
    std::array{schema::Choice{Colour::Red, "red"}, schema::Choice{Colour::DarkBlue, "dark_blue"}};
template <>
inline constexpr auto schema::kObject<Maybe> =
    schema::object("Maybe", "Perhaps.", schema::member<&Maybe::value>("value", "text, if any"));
template <>
inline constexpr auto schema::kObject<Inner> =
    schema::object("Inner", "Inside.", schema::member<&Inner::name>("name", "who", {.min = 1, .max = 5}),
                   schema::member<&Inner::size>("size", "how large", {.min = 0}));
template <>
inline constexpr auto schema::kObject<Outer> = schema::object(
    "Outer", "All kinds.", schema::member<&Outer::text>("text", "words"),
    schema::member<&Outer::colour>("colour", "its colour"), schema::member<&Outer::flag>("flag", "yes or no"),
    schema::member<&Outer::share>("share", "of the whole"), schema::member<&Outer::count>("count", "how many"),
    schema::member<&Outer::inner>("inner", "what is inside"),
    schema::member<&Outer::list>("list", "more of them", {.max = 2}), schema::member<&Outer::map>("map", "by name"),
    schema::member<&Outer::words>("words", "if any"), schema::member<&Outer::any>("any", "anything"));

namespace {

using schema::UnknownMembers;

constexpr std::string_view kWhole =
    R"({"text":"hi","colour":"dark_blue","flag":true,"share":2.5E-1,"count":7,"inner":{"name":"a","size":3},)"
    R"("list":[{"name":"b"}],"map":{"x":1},"words":["w"],"any":{"deep":[1,null]}})";

std::string problem_of(std::string_view with, std::string_view of = kWhole) {
  auto object = parse_json_object(of).value();
  const auto changes = parse_json_object(with).value();
  for (const auto& [name, value] : changes) object[name] = value;
  const auto read = schema::read<Outer>(object, UnknownMembers::Reject);
  return read ? "" : read.error().message();
}

TEST(Schema, RoundTripsThroughReadAndWrite) {
  const auto value = schema::read<Outer>(parse_json_object(kWhole).value(), UnknownMembers::Reject);
  ASSERT_TRUE(value) << value.error().message();
  EXPECT_EQ(value->colour, Colour::DarkBlue);
  EXPECT_EQ(value->inner, (Inner{"a", 3}));
  EXPECT_EQ(value->list, std::vector{Inner{"b"}});
  EXPECT_EQ(json::serialize(schema::write(*value)), kWhole);
}

TEST(Schema, ErrorNamesMemberAndReason) {
  EXPECT_EQ(problem_of("{}"), "");
  EXPECT_EQ(problem_of(R"({"words":null})"), "");
  EXPECT_EQ(problem_of(R"({"text":1})"), R"("text" must be a string)");
  EXPECT_EQ(problem_of(R"({"colour":"green"})"), R"("colour" must be one of red, dark_blue)");
  EXPECT_EQ(problem_of(R"({"count":-1})"), R"("count" must be at least 0)");
  EXPECT_EQ(problem_of(R"({"count":4294967296})"), R"("count" must be at most 4294967295)");
  EXPECT_EQ(problem_of(R"({"count":1.5})"), R"("count" must be a whole number)");
  EXPECT_EQ(problem_of(R"({"count":1e300})"), R"("count" must be a whole number)");
  EXPECT_EQ(problem_of(R"({"inner":{}})"), R"("inner.name" is missing)");
  EXPECT_EQ(problem_of(R"({"inner":{"name":""}})"), R"("inner.name" must not be empty)");
  EXPECT_EQ(problem_of(R"({"inner":{"name":"abcdef"}})"), R"("inner.name" must be at most 5 bytes long)");
  EXPECT_EQ(problem_of(R"({"list":[{"name":"a"},{"name":2}]})"), R"("list[1].name" must be a string)");
  EXPECT_EQ(problem_of(R"({"list":[{"name":"a"},{"name":"b"},{"name":"c"}]})"),
            R"("list" must be a list of at most 2)");
  EXPECT_EQ(problem_of(R"({"map":{"x":"y"}})"), R"("map.x" must be a whole number)");
  EXPECT_EQ(problem_of(R"({"more":1})"), R"("more" is unknown)");
  EXPECT_EQ(problem_of("{}", "{}"), R"("text" is missing)");
}

TEST(Schema, RefersToNestedSchemas) {
  schema::Components components;
  EXPECT_EQ(json::serialize(components.refer_to(schema::object_of<Outer>())),
            R"({"$ref":"#/components/schemas/Outer"})");
  const auto all = components.take();
  const auto& outer = all.at("Outer").as_object().at("properties").as_object();
  EXPECT_EQ(json::serialize(outer.at("colour")),
            R"({"type":"string","enum":["red","dark_blue"],"description":"its colour"})");
  EXPECT_EQ(json::serialize(outer.at("inner")),
            R"({"$ref":"#/components/schemas/Inner","description":"what is inside"})");
  EXPECT_EQ(
      json::serialize(outer.at("list")),
      R"({"type":"array","items":{"$ref":"#/components/schemas/Inner"},"maxItems":2,"description":"more of them"})");
  EXPECT_EQ(
      json::serialize(all.at("Inner")),
      R"({"type":"object","description":"Inside.","properties":{"name":{"type":"string","minLength":1,"maxLength":5,)"
      R"("description":"who"},"size":{"type":"integer","minimum":0,"description":"how large"}},"required":["name"]})");
}

TEST(Schema, WritesMarkdownTable) {
  EXPECT_EQ(schema::markdown_table(schema::object_of<Inner>()),
            "| member | type | meaning |\n|---|---|---|\n| `name` | string | who |\n| `size`? | whole number | how "
            "large |\n");
}

TEST(Schema, NullableMemberIsAlwaysWritten) {
  EXPECT_EQ(json::serialize(schema::write(Maybe{})), R"({"value":null})");
  EXPECT_EQ(json::serialize(schema::write(Maybe{.value = "text"})), R"({"value":"text"})");
  EXPECT_FALSE(schema::read<Maybe>({{"value", nullptr}}).value().value.has_value());
  EXPECT_EQ(schema::read<Maybe>({{"value", "text"}}).value().value, "text");
  EXPECT_EQ(schema::read<Maybe>({}).error().message(), R"("value" is missing)");
  schema::Components components;
  const auto described = schema::json_schema(schema::object_of<Maybe>(), components);
  EXPECT_EQ(json::serialize(described.at("properties").as_object().at("value").as_object().at("type")),
            R"(["string","null"])");
  EXPECT_EQ(json::serialize(described.at("required")), R"(["value"])");
}

}  // namespace
}  // namespace relay
