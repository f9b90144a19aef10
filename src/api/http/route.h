/// A route as a row of a table. Matching, checks, the OpenAPI document and the docs page all read this table.
///
/// Why no list of error statuses per route: errors_of() derives them from the row (access, body, path parameters), so
///   they cannot drift from the code.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "api/client/workspace_directory.h"
#include "api/http/call.h"
#include "api/http/security.h"
#include "schema/schema.h"

namespace relay::api {

class Api;

enum class Method : std::uint8_t { Get, Post, Delete };
std::string_view name_of(Method method);

/// The type of a JSON body: its schema, and a check whether an object conforms to it.
struct Shape {
  json::object (*describe)(schema::Components&) = nullptr;
  Result<void> (*check)(const json::object&) = nullptr;
};
template <class T>
inline constexpr Shape kShape = {
    [](schema::Components& components) { return components.refer_to(schema::object_of<T>()); },
    [](const json::object& object) -> Result<void> {
      RELAY_TRY(schema::read<T>(object));
      return {};
    }};

struct Parameter {
  enum class Kind : std::uint8_t { String, Number, Bool };
  std::string_view name;
  std::string_view description;
  Kind kind = Kind::String;
  bool in_header = false;
};

/// Handles a request. A WorkspaceHandler also gets the workspace that the request names.
using Handler = void (*)(Api& api, Call call);
using WorkspaceHandler = void (*)(Api& api, WorkspaceHandle workspace, Call call);

struct Route {
  Method method;
  std::string_view path;  // "/api/v1/agents/{name}/permissions"
  std::string_view operation;
  std::string_view tag;
  std::string_view summary;
  std::string_view details = {};
  std::span<const Parameter> parameters = {};  // in addition to those of the path
  Shape body = {};
  std::string_view example = {};  // a request body that can be sent as it is
  int status = 200;
  Shape response = {};
  std::string_view content_type = "application/json";
  Access access = Access::Authenticated;
  bool agents_allowed = false;  // a process inside an agent may call it as that agent; GET is always allowed
  Handler handler = nullptr;
  WorkspaceHandler in_workspace = nullptr;

  [[nodiscard]] bool takes_body() const { return body.describe != nullptr; }
  /// True when an empty object is not a valid body.
  [[nodiscard]] bool needs_body() const { return takes_body() && (body.check == nullptr || !body.check({})); }
};

/// All routes.
std::span<const Route> route_table();
/// The route of that operation, which must exist.
const Route& route_of(std::string_view operation);

/// The names of the path's `{…}` parameters, in order.
std::vector<std::string_view> path_parameters(std::string_view path);

/// The description of a path parameter, and an example value.
struct PathParameter {
  std::string_view description, example;
};
PathParameter describe_path_parameter(const Route& route, std::string_view name);

/// The error statuses that the route can respond with.
std::vector<int> errors_of(const Route& route);

struct Match {
  const Route* route = nullptr;            // null: unknown path or wrong method
  std::vector<std::string> values = {};    // of the path parameters
  std::vector<Method> other_methods = {};  // the methods of the path, when `route` is null
};
/// HEAD matches GET. The path with the fewest parameters wins: "/agents/by-name/{name}/interrupt" before
/// "/agents/{id}/…".
Match match_route(std::string_view method, const std::vector<std::string>& segments);

/// "GET, HEAD, POST", for the Allow header.
std::string method_list(std::span<const Method> methods);

}  // namespace relay::api
