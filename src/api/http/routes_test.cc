#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "api/http/openapi.h"
#include "api/testing/fake_workspaces.h"

namespace relay::api {
namespace {

using testing::FakeApi;

std::optional<std::string> header(const net::ServerResponse& answer, std::string_view name) {
  for (const auto& each : answer.headers)
    if (each.name == name) return each.value;
  return std::nullopt;
}

TEST(Routes, EachHasOneHandlerOneNameAndASummary) {
  std::set<std::string_view> operations;
  for (const auto& route : route_table()) {
    EXPECT_TRUE((route.handler == nullptr) != (route.in_workspace == nullptr)) << route.path;
    EXPECT_TRUE(operations.insert(route.operation).second) << route.operation;
    EXPECT_FALSE(route.summary.empty()) << route.path;
    EXPECT_TRUE(route.status == 204 || route.status == 101 || route.response.describe != nullptr ||
                route.content_type != "application/json")
        << route.path;
  }
}

TEST(Routes, CoverTheSpecification) {
  const std::vector<std::pair<std::string, std::string>> specified = {
      {"GET", "/"},
      {"GET", "/healthz"},
      {"GET", "/metrics"},
      {"GET", "/openapi.json"},
      {"GET", "/docs"},
      {"GET", "/workspaces"},
      {"POST", "/workspaces"},
      {"GET", "/workspaces/{id}"},
      {"DELETE", "/workspaces/{id}"},
      {"POST", "/workspaces/{id}/switch"},
      {"GET", "/workspaces/{id}/agents"},
      {"POST", "/workspaces/{id}/agents"},
      {"GET", "/agents"},
      {"GET", "/agents/{id}"},
      {"DELETE", "/agents/{id}"},
      {"GET", "/agents/{id}/output"},
      {"POST", "/agents/{id}/input"},
      {"POST", "/agents/{id}/interrupt"},
      {"POST", "/agents/by-name/{name}/interrupt"},
      {"POST", "/api/v1/sessions"},
      {"POST", "/api/v1/sessions/{sessionId}/messages"},
      {"DELETE", "/api/v1/sessions/{sessionId}"},
      {"GET", "/api/v1/agents/{name}/permissions"},
      {"POST", "/api/v1/agents/{name}/permissions/{requestId}/approve"},
      {"POST", "/api/v1/agents/{name}/permissions/{requestId}/deny"},
      {"GET", "/api/v1/agents/{name}/questions"},
      {"POST", "/api/v1/agents/{name}/questions/{requestId}/answer"},
      {"POST", "/api/v1/agents/{name}/pause"},
      {"POST", "/api/v1/agents/{name}/resume"},
      {"POST", "/api/v1/agents/{name}/stop"},
      {"POST", "/api/v1/agents/{name}/input"},
      {"GET", "/api/v1/events/sse"},
      {"GET", "/api/v1/agents/{name}/events/sse"},
      {"GET", "/api/v1/sessions/{sessionId}/events/sse"},
      {"GET", "/api/v1/costs"},
  };
  std::set<std::pair<std::string, std::string>> there;
  for (const auto& route : route_table()) there.emplace(name_of(route.method), route.path);
  for (const auto& route : specified) EXPECT_TRUE(there.contains(route)) << route.first << " " << route.second;
}

TEST(Routes, MostLiteralPathWins) {
  const auto match = match_route("POST", {"agents", "by-name", "Bob", "interrupt"});
  ASSERT_NE(match.route, nullptr);
  EXPECT_EQ(match.route->operation, "interruptAgentByName");
  EXPECT_EQ(match.values, std::vector<std::string>{"Bob"});
  EXPECT_EQ(match_route("HEAD", {"agents"}).route->operation, "listAllAgents");
  EXPECT_EQ(match_route("GET", {"nowhere"}).route, nullptr);
  EXPECT_TRUE(match_route("GET", {"nowhere"}).other_methods.empty());
}

TEST(Routes, UnknownPathAndWrongMethodDiffer) {
  FakeApi fake;
  EXPECT_EQ(fake.request("GET", "/nowhere").status, 404);
  const auto wrong = fake.request("DELETE", "/workspaces");
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(header(wrong, "Allow"), "GET, HEAD, POST");
  EXPECT_EQ(fake.request("GET", "/agents/%zz").status, 400);
  EXPECT_EQ(fake.request("GET", "/agents/..").status, 400);
  EXPECT_EQ(fake.request("GET", "/agents?x=%").status, 400);
  EXPECT_EQ(fake.request("BREW", "/agents").status, 405);
}

TEST(Routes, ResponsesForbidCachingAndSniffing) {
  FakeApi fake;
  for (const auto* path : {"/healthz", "/nowhere"}) {
    const auto answer = fake.request("GET", path);
    EXPECT_EQ(header(answer, "Cache-Control"), "no-store");
    EXPECT_EQ(header(answer, "X-Content-Type-Options"), "nosniff");
    EXPECT_FALSE(header(answer, "Access-Control-Allow-Origin"));
  }
}

TEST(Routes, ResponsesForbidFraming) {
  FakeApi fake;
  for (const auto* path : {"/docs", "/healthz", "/metrics", "/nowhere", "/agents"}) {
    const auto answer = fake.request("GET", path);
    EXPECT_EQ(header(answer, "X-Frame-Options"), "DENY") << path;
    const auto policy = header(answer, "Content-Security-Policy").value_or("");
    EXPECT_TRUE(policy.contains("default-src 'none'")) << path << policy;
    EXPECT_TRUE(policy.contains("frame-ancestors 'none'")) << path << policy;
    EXPECT_EQ(std::ranges::count(answer.headers, "Content-Security-Policy", &net::HttpHeader::name), 1) << path;
  }
}

TEST(Routes, OwnPagesMayReadAndPreflight) {
  FakeApi fake;
  const auto read = fake.request("GET", "/healthz", {}, {{"Origin", "http://localhost:3888"}});
  EXPECT_EQ(header(read, "Access-Control-Allow-Origin"), "http://localhost:3888");
  const auto preflight = fake.request("OPTIONS", "/api/v1/messages", {}, {{"Origin", "http://localhost:3888"}});
  EXPECT_EQ(preflight.status, 204);
  EXPECT_EQ(header(preflight, "Access-Control-Allow-Methods"), "GET, HEAD, POST");
  EXPECT_EQ(std::count_if(preflight.headers.begin(), preflight.headers.end(),
                          [](const auto& each) { return each.name == "Access-Control-Allow-Origin"; }),
            1);
  EXPECT_EQ(fake.request("OPTIONS", "/nowhere").status, 404);
  EXPECT_EQ(fake.request("OPTIONS", "/agents", {}, {{"Origin", "http://evil.example"}}).status, 403);
}

TEST(Routes, UntrustedPeerGetsOneResponse) {
  FakeApi fake;
  for (const auto* path : {"/healthz", "/agents", "/nowhere"}) {
    EXPECT_FALSE(fake.request("GET", path).last) << path;
    fake.policy.owner = 1001;
    EXPECT_TRUE(fake.request("GET", path).last) << path;
    EXPECT_TRUE(fake.request("GET", path, {}, {{"Origin", "http://evil.example"}}).last) << path;
    fake.policy.owner = 1000;
  }
}

TEST(Routes, WrongTokenRevealsNoPaths) {
  FakeApi fake;
  fake.policy.token = "s3cret";
  EXPECT_EQ(fake.request("GET", "/nowhere").status, 401);
  EXPECT_EQ(header(fake.request("GET", "/agents"), "WWW-Authenticate"), "Bearer");
  EXPECT_EQ(fake.request("GET", "/agents", {}, {{"Authorization", "Bearer s3cret"}}).status, 200);
  EXPECT_EQ(fake.request("GET", "/healthz").status, 200);
  EXPECT_EQ(fake.request("GET", "/openapi.json").status, 200);
}

TEST(OpenApi, FileInTheRepositoryIsCurrent) {
  std::ifstream file{OPENAPI_FILE};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  EXPECT_EQ(text, openapi_text(OPENAPI_VERSION)) << "regenerate it with: agent-relay openapi > docs/api/openapi.json";
}

/// Every {"$ref": "#/…"} in the document, followed.
void check_references(const json::value& value, const json::value& document) {
  if (const auto* object = value.if_object()) {
    for (const auto& [name, member] : *object) {
      if (name == "$ref") {
        boost::system::error_code wrong;
        const auto pointer = std::string{member.as_string()}.substr(1);
        EXPECT_NE(document.find_pointer(pointer, wrong), nullptr) << pointer;
      }
      check_references(member, document);
    }
  } else if (const auto* array = value.if_array()) {
    for (const auto& element : *array) check_references(element, document);
  }
}

TEST(OpenApi, DescribesRoutesParametersAndErrors) {
  const auto document = openapi_document("1");
  EXPECT_EQ(document.at("openapi").as_string(), "3.1.0");
  EXPECT_TRUE(document.at("components").at("securitySchemes").as_object().contains("bearerAuth"));
  EXPECT_TRUE(document.at("components").at("schemas").as_object().contains("AgentEvent"));
  const auto& paths = document.at("paths").as_object();
  for (const auto& route : route_table()) {
    std::string method{name_of(route.method)};
    std::transform(method.begin(), method.end(), method.begin(), [](unsigned char c) { return std::tolower(c); });
    ASSERT_TRUE(paths.contains(route.path)) << route.path;
    const auto& operation = paths.at(route.path).as_object().at(method).as_object();
    EXPECT_EQ(operation.at("operationId").as_string(), route.operation);
    const auto& responses = operation.at("responses").as_object();
    EXPECT_TRUE(responses.contains(format("{}", route.status)));
    for (const auto status : errors_of(route)) EXPECT_TRUE(responses.contains(format("{}", status))) << route.path;
    std::set<std::string> named;
    if (operation.contains("parameters"))
      for (const auto& parameter : operation.at("parameters").as_array())
        named.emplace(parameter.as_object().at("name").as_string());
    for (const auto name : path_parameters(route.path)) EXPECT_TRUE(named.contains(std::string{name})) << route.path;
  }
  const json::value whole = document;
  check_references(whole, whole);
}

TEST(OpenApi, MandatoryBodyIsRequired) {
  const auto document = openapi_document("1");
  const auto required = [&](std::string_view path) {
    const auto& operation = document.at("paths").as_object().at(path).as_object().at("post").as_object();
    return operation.at("requestBody").as_object().at("required").as_bool();
  };
  for (const auto* path :
       {"/workspaces", "/workspaces/{id}/agents", "/agents/{id}/input", "/api/v1/sessions",
        "/api/v1/sessions/{sessionId}/messages", "/api/v1/agents/{name}/messages", "/api/v1/agents/{name}/input",
        "/api/v1/messages", "/api/v1/agents/{name}/questions/{requestId}/answer"})
    EXPECT_TRUE(required(path)) << path;
  for (const auto* path :
       {"/api/v1/agents/{name}/pause", "/api/v1/agents/{name}/resume", "/api/v1/agents/{name}/stop",
        "/api/v1/agents/{name}/permissions/{requestId}/approve", "/api/v1/agents/{name}/permissions/{requestId}/deny"})
    EXPECT_FALSE(required(path)) << path;
}

TEST(OpenApi, NullableMembersAreRequired) {
  const auto document = openapi_document("1");
  const auto& permission = document.at("components").as_object().at("schemas").as_object().at("Permission").as_object();
  for (const auto* name : {"command", "filePath"}) {
    const auto& required = permission.at("required").as_array();
    EXPECT_NE(std::ranges::find(required, json::value(name)), required.end()) << name;
    const auto& type = permission.at("properties").as_object().at(name).as_object().at("type");
    EXPECT_EQ(json::serialize(type), R"(["string","null"])") << name;
  }
}

}  // namespace
}  // namespace relay::api
