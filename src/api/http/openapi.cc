#include "api/http/openapi.h"

#include "api/handlers/workspace_bodies.h"
#include "api/http/route.h"
#include "base/format.h"
#include "events/catalog.h"

namespace relay::api {
namespace {

constexpr std::string_view kDescription =
    "Start, watch, message and stop the coding agents on this machine. Without a token, the server accepts only "
    "programs "
    "of the user who runs the daemon, on the same machine.";

constexpr Parameter kWorkspaceParameter = {
    .name = "workspace",
    .description = "id or root of the workspace; needed when several are open and none is the default"};

struct ErrorRow {
  int status;
  std::string_view name, description;
};
constexpr ErrorRow kErrors[] = {
    {400, "BadRequest", "The request is malformed; the message says why (`BAD_REQUEST`)."},
    {401, "Unauthorized", "The token is missing or wrong."},
    {403, "Forbidden", "The origin or the user is not allowed, or the recipient refuses this sender (`REFUSED`)."},
    {404, "NotFound", "The path or the object does not exist (`NOT_FOUND`, `UNKNOWN_RECIPIENT`)."},
    {409, "Conflict",
     "The request conflicts with the current state: it changed meanwhile (`STALE`, `EXPIRED`), the name belongs to "
     "another "
     "client (`NOT_OWNER`), the operation is not supported here (`UNSUPPORTED`), the loop breaker stopped it (`LOOP`), "
     "several workspaces are open (`AMBIGUOUS_WORKSPACE`), none is (`NO_WORKSPACE`), or the operation failed "
     "(`FAILED`)."},
    {413, "TooLarge", "The request is too large (`TOO_LARGE`)."},
    {415, "NotJson", "The body must be `application/json` (`NOT_JSON`)."},
    {426, "UpgradeRequired", "This path serves only WebSocket (`UPGRADE_REQUIRED`)."},
    {429, "TooMany", "Too many requests (`BUSY`, `RATE_LIMITED`); retry after `Retry-After`."},
    {503, "Unavailable",
     "The store or the daemon has failed, or too many streams are open (`STORAGE`, `INTERNAL`, `UNAVAILABLE`, `BUSY`); "
     "retry after `Retry-After`."},
    {504, "Timeout", "The daemon did not respond in time (`TIMEOUT`); retry after `Retry-After`."},
};

bool is_retryable(int status) { return status == 429 || status >= 500; }

const ErrorRow& row_of(int status) {
  for (const auto& row : kErrors)
    if (row.status == status) return row;
  RELAY_ASSERT(false);
}

json::object in_json(json::object schema) {
  return {{"application/json", json::object{{"schema", std::move(schema)}}}};
}

json::object schema_of(Parameter::Kind kind) {
  switch (kind) {
    case Parameter::Kind::String: return {{"type", "string"}};
    case Parameter::Kind::Number: return {{"type", "integer"}, {"format", "int64"}, {"minimum", 0}};
    case Parameter::Kind::Bool: return {{"type", "boolean"}};
  }
  return {};
}

json::object describe(const Parameter& parameter) {
  return {{"name", parameter.name},
          {"in", parameter.in_header ? "header" : "query"},
          {"description", parameter.description},
          {"required", false},
          {"schema", schema_of(parameter.kind)}};
}

json::array parameters_of(const Route& route) {
  json::array all;
  for (const auto name : path_parameters(route.path)) {
    const auto [description, example] = describe_path_parameter(route, name);
    all.push_back(json::object{{"name", name},
                               {"in", "path"},
                               {"description", description},
                               {"required", true},
                               {"schema", json::object{{"type", "string"}, {"minLength", 1}}},
                               {"example", example}});
  }
  for (const auto& parameter : route.parameters) all.push_back(describe(parameter));
  if (route.in_workspace != nullptr) all.push_back(describe(kWorkspaceParameter));
  return all;
}

json::object success_response(const Route& route, schema::Components& components) {
  json::object response = {{"description", route.status == 201   ? "Created."
                                           : route.status == 204 ? "Success; the response has no body."
                                                                 : "Success."}};
  if (route.status == 101) response["description"] = "The connection continues as a WebSocket.";
  if (route.status == 204 || route.status == 101) return response;
  json::object schema = {{"type", "string"}};
  if (route.response.describe != nullptr) schema = route.response.describe(components);
  response["content"] = json::object{{route.content_type, json::object{{"schema", std::move(schema)}}}};
  return response;
}

json::object describe(const Route& route, schema::Components& components) {
  json::object operation = {
      {"operationId", route.operation}, {"tags", json::array{json::value(route.tag)}}, {"summary", route.summary}};
  if (!route.details.empty()) operation["description"] = route.details;
  if (auto parameters = parameters_of(route); !parameters.empty()) operation["parameters"] = std::move(parameters);
  if (route.takes_body()) {
    auto content = in_json(route.body.describe(components));
    content["application/json"].as_object()["example"] = parse_json(route.example).value();
    operation["requestBody"] = json::object{{"required", route.needs_body()}, {"content", std::move(content)}};
  }
  json::object responses;
  responses[format("{}", route.status)] = success_response(route, components);
  for (const auto status : errors_of(route))
    responses[format("{}", status)] = json::object{{"$ref", format("#/components/responses/{}", row_of(status).name)}};
  operation["responses"] = std::move(responses);
  if (route.access == Access::Public) operation["security"] = json::array{};
  return operation;
}

json::object error_responses(schema::Components& components) {
  json::object responses;
  for (const auto& row : kErrors) {
    json::object response = {{"description", row.description},
                             {"content", in_json(components.refer_to(schema::object_of<ErrorBody>()))}};
    if (is_retryable(row.status))
      response["headers"] = json::object{
          {"Retry-After", json::object{{"description", "seconds"}, {"schema", json::object{{"type", "integer"}}}}}};
    responses[row.name] = std::move(response);
  }
  return responses;
}

std::string to_lower(std::string_view name) {
  std::string text;
  for (const auto c : name) text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

void write_pretty(std::string& out, const json::value& value, std::size_t depth) {
  const std::string line = "\n" + std::string(2 * depth, ' ');
  if (const auto* object = value.if_object(); object != nullptr && !object->empty()) {
    char before = '{';
    for (const auto& [name, member] : *object) {
      out += std::exchange(before, ',') + line + "  " + json::serialize(json::value(name)) + ": ";
      write_pretty(out, member, depth + 1);
    }
    out += line + "}";
  } else if (const auto* array = value.if_array(); array != nullptr && !array->empty()) {
    char before = '[';
    for (const auto& element : *array) {
      out += std::exchange(before, ',') + line + "  ";
      write_pretty(out, element, depth + 1);
    }
    out += line + "]";
  } else {
    out += json::serialize(value);
  }
}

}  // namespace

std::string openapi_text(std::string_view version) {
  std::string text;
  write_pretty(text, openapi_document(version), 0);
  return text + "\n";
}

json::object openapi_document(std::string_view version) {
  schema::Components components;
  json::object paths;
  for (const auto& route : route_table()) {
    auto& path = paths[route.path];
    if (path.is_null()) path = json::object{};
    path.as_object()[to_lower(name_of(route.method))] = describe(route, components);
  }
  (void)events::events_json_schema(components);
  auto responses = error_responses(components);
  return {
      {"openapi", "3.1.0"},
      {"info", json::object{{"title", "Agent Relay"},
                            {"version", version},
                            {"summary", "Control and watch coding agents."},
                            {"description", kDescription},
                            {"license", json::object{{"name", "Apache-2.0"}, {"identifier", "Apache-2.0"}}}}},
      {"servers", json::array{json::object{
                      {"url", "http://127.0.0.1:3888"},
                      {"description", "default port; the daemon takes the next free one when it is in use"}}}},
      {"security", json::array{json::object{}, json::object{{"bearerAuth", json::array{}}}}},
      {"paths", std::move(paths)},
      {"components",
       json::object{
           {"securitySchemes",
            json::object{{"bearerAuth",
                          json::object{{"type", "http"},
                                       {"scheme", "bearer"},
                                       {"description",
                                        "The token the daemon was started with (AGENT_RELAY_API_TOKEN). "
                                        "When it was started without one, programs of the same user need none."}}}}},
           {"responses", std::move(responses)},
           {"schemas", components.take()}}}};
}

}  // namespace relay::api
