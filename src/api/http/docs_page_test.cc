#include <gtest/gtest.h>

#include "api/http/docs_page.h"
#include "api/http/openapi.h"
#include "api/http/schema_html.h"
#include "api/testing/fake_workspaces.h"

namespace relay::api {
namespace {

using testing::FakeApi;

/// The page, and its section for one name.
struct Page {
  std::string text = FakeApi{}.request("GET", "/docs").body;

  [[nodiscard]] std::string_view under(std::string_view id) const {
    const auto start = text.find(format("<details id=\"{}\">", id));
    if (start == std::string::npos) return {};
    return std::string_view{text}.substr(start, text.find("</details>", start) - start);
  }
};

/// Expects every member of the shape on the page. Nested schemas have sections of their own.
void expect_members(const Shape& shape, const Page& page, std::string_view id) {
  if (shape.describe == nullptr) return;
  schema::Components components;
  const auto reference = shape.describe(components);
  for (const auto& [name, schema] : components.take()) {
    EXPECT_FALSE(page.under(name).empty()) << name;
    const auto* members = object_member(schema.as_object(), "properties");
    if (members == nullptr) continue;
    const bool whole =
        json::serialize(reference).find(format("schemas/{}\"", std::string_view{name})) != std::string::npos;
    for (const auto& [member, type] : *members) {
      const auto code = format("<code>{}</code>", std::string_view{member});
      EXPECT_NE(page.under(name).find(code), std::string::npos) << name << " " << member;
      if (whole) { EXPECT_NE(page.under(id).find(code), std::string::npos) << id << " " << member; }
    }
  }
}

TEST(DocsPage, DescribesParametersBodiesAndResponsesOfEveryRoute) {
  const Page page;
  for (const auto& route : route_table()) {
    const auto text = page.under(route.operation);
    const auto has = [&](std::string_view code) {
      EXPECT_NE(text.find(format("<code>{}</code>", code)), std::string::npos) << route.operation << " " << code;
    };
    ASSERT_FALSE(text.empty()) << route.operation;
    has(route.path);
    has(format("{}", route.status));
    for (const auto status : errors_of(route)) has(format("{}", status));
    for (const auto name : path_parameters(route.path)) has(name);
    for (const auto& parameter : route.parameters) has(parameter.name);
    if (route.in_workspace != nullptr) has("workspace");
    expect_members(route.body, page, route.operation);
    expect_members(route.response, page, route.operation);
  }
}

TEST(DocsPage, HasACurlLineForEveryRoute) {
  const Page page;
  for (const auto& route : route_table()) {
    const auto text = page.under(route.operation);
    EXPECT_NE(text.find("<pre>curl "), std::string_view::npos) << route.operation;
    if (!path_parameters(route.path).empty()) continue;
    EXPECT_NE(text.find(format("'http://127.0.0.1:3888{}'", route.path)), std::string_view::npos) << route.operation;
  }
  EXPECT_NE(page.under("pauseAgent")
                .find("curl -X POST 'http://127.0.0.1:3888/api/v1/agents/Bob/pause' \\\n"
                      "     -H 'Content-Type: application/json' -d '{&quot;reason&quot;:&quot;lunch&quot;}'"),
            std::string_view::npos);
}

TEST(DocsPage, ExamplesAreValidBodies) {
  for (const auto& route : route_table()) {
    if (!route.takes_body()) continue;
    const auto example = parse_json_object(route.example);
    ASSERT_TRUE(example) << route.operation;
    EXPECT_EQ(route.example.find('\''), std::string_view::npos) << route.operation << ": the example is quoted with it";
    if (route.body.check != nullptr) { EXPECT_TRUE(route.body.check(*example)) << route.operation; }
  }
}

TEST(DocsPage, LoadsNothingExternalAndRunsOnlyItsOwnScript) {
  FakeApi fake;
  const auto page = fake.request("GET", "/docs");
  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  for (const auto* outside : {"src=", "<link", "@import", "url(", "https://"})
    EXPECT_EQ(page.body.find(outside), std::string::npos) << outside;
  for (auto at = page.body.find("http://"); at != std::string::npos; at = page.body.find("http://", at + 1))
    EXPECT_EQ(page.body.substr(at, 22), "http://127.0.0.1:3888/") << "only curl lines for this server";
  const auto policy = std::ranges::find(page.headers, "Content-Security-Policy", &net::HttpHeader::name);
  ASSERT_NE(policy, page.headers.end());
  EXPECT_TRUE(policy->value.starts_with("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-"));
}

TEST(DocsPage, UnsafeHostIsNotRepeated) {
  EXPECT_EQ(docs_server("example.org:3888"), "http://example.org:3888");
  EXPECT_EQ(docs_server("[::1]:3888"), "http://[::1]:3888");
  EXPECT_EQ(docs_server("x'$(date)"), "http://127.0.0.1:3888");
}

TEST(SchemaHtml, DescribesTypes) {
  const auto type = [](std::string_view schema) { return type_html(parse_json_object(schema).value()); };
  EXPECT_EQ(type(R"({"type":"string","minLength":1,"maxLength":9})"), "string, 1 to 9");
  EXPECT_EQ(type(R"({"type":["string","null"]})"), "string, or null");
  EXPECT_EQ(type(R"({"type":"array","items":{"type":"boolean"}})"), "list of boolean");
  EXPECT_EQ(type(R"({"type":"object","additionalProperties":{"type":"integer"}})"), "map to integer");
  EXPECT_EQ(type(R"({"enum":["a","b"]})"), "<code>a</code>, <code>b</code>");
  EXPECT_EQ(type(R"({"oneOf":[{"const":"a"},{"type":"integer"}]})"), "one of <code>a</code>, integer");
  EXPECT_EQ(prose_html("a `b<c` & d"), "a <code>b&lt;c</code> &amp; d");
}

}  // namespace
}  // namespace relay::api
