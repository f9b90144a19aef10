/// A route as a row of a table: everything that matching, checks, the OpenAPI document and the page for people need.
///
/// Which errors a route may answer with follows from its row (what it needs, takes and names), so that no list of statuses
///   has to be kept true beside the code.
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

/// What a JSON body looks like: how it is described, and whether an object is one.
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

/// What is done with a request; the second kind is given the workspace it means.
using Handler = void (*)(Api& api, Call call);
using WorkspaceHandler = void (*)(Api& api, WorkspaceHandle workspace, Call call);

struct Route {
  Method method;
  std::string_view path;  // "/api/v1/agents/{name}/permissions"
  std::string_view operation;
  std::string_view tag;
  std::string_view summary;
  std::string_view details = {};
  std::span<const Parameter> parameters = {};  // beside those of the path
  Shape body = {};
  std::string_view example = {};  // of a body, to be sent as it is
  int status = 200;
  Shape response = {};
  std::string_view content_type = "application/json";
  Access access = Access::Authenticated;
  bool agents_allowed = false;  // a process inside an agent may do it, as that agent; reading is always free
  Handler handler = nullptr;
  WorkspaceHandler in_workspace = nullptr;

  [[nodiscard]] bool takes_body() const { return body.describe != nullptr; }
  /// Without a body the request is refused: an empty object is not enough.
  [[nodiscard]] bool needs_body() const { return takes_body() && (body.check == nullptr || !body.check({})); }
};

/// Every route there is.
std::span<const Route> route_table();
/// The one with that operation's name, which is one of them.
const Route& route_of(std::string_view operation);

/// `{name}` within a path, in order.
std::vector<std::string_view> path_parameters(std::string_view path);

/// What one of them stands for, and what somebody could write there.
struct PathParameter {
  std::string_view description, example;
};
PathParameter describe_path_parameter(const Route& route, std::string_view name);

/// The statuses beside its own that it may answer with.
std::vector<int> errors_of(const Route& route);

struct Match {
  const Route* route = nullptr;            // null: no such path, or not with that method
  std::vector<std::string> values = {};    // of `{name}`s
  std::vector<Method> other_methods = {};  // the methods this path does have, when it is not one of them
};
/// HEAD is GET. The longest literal path wins: "/agents/by-name/{name}/interrupt" before "/agents/{id}/…".
Match match_route(std::string_view method, const std::vector<std::string>& segments);

/// "GET, HEAD, POST": for the header Allow.
std::string method_list(std::span<const Method> methods);

}  // namespace relay::api
