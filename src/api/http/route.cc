#include "api/http/route.h"

#include <algorithm>

namespace relay::api {
namespace {

std::vector<std::string_view> split_path(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const auto end = std::min(path.find('/'), path.size());
    if (end > 0) parts.push_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  return parts;
}

bool is_parameter(std::string_view part) { return part.starts_with('{'); }

/// The paths of the table, split once.
const std::vector<std::vector<std::string_view>>& patterns() {
  static const auto all = [] {
    std::vector<std::vector<std::string_view>> patterns;
    for (const auto& route : route_table()) patterns.push_back(split_path(route.path));
    return patterns;
  }();
  return all;
}

/// The values of the path's parameters when it matches.
std::optional<std::vector<std::string>> match_segments(const std::vector<std::string_view>& parts,
                                                       const std::vector<std::string>& segments) {
  if (parts.size() != segments.size()) return std::nullopt;
  std::vector<std::string> values;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (is_parameter(parts[i]))
      values.push_back(segments[i]);
    else if (parts[i] != segments[i])
      return std::nullopt;
  }
  return values;
}

}  // namespace

std::string_view name_of(Method method) {
  switch (method) {
    case Method::Get: return "GET";
    case Method::Post: return "POST";
    case Method::Delete: return "DELETE";
  }
  return "";
}

const Route& route_of(std::string_view operation) {
  const auto route = std::ranges::find(route_table(), operation, &Route::operation);
  RELAY_ASSERT(route != route_table().end());
  return *route;
}

std::vector<std::string_view> path_parameters(std::string_view path) {
  std::vector<std::string_view> names;
  for (const auto part : split_path(path))
    if (is_parameter(part)) names.push_back(part.substr(1, part.size() - 2));
  return names;
}

PathParameter describe_path_parameter(const Route& route, std::string_view name) {
  if (name == "id" && route.path.starts_with("/workspaces/"))
    return {"the workspace's id, or its root with `/` as `%2F`; see `GET /workspaces`", "WORKSPACE_ID"};
  if (name == "id") return {"the agent's name or id (workspace id, dot, name)", "Bob"};
  if (name == "name") return {"the agent's name", "Bob"};
  if (name == "sessionId") return {"the session's id; see `GET /api/v1/agents`", "SESSION_ID"};
  if (name == "messageId") return {"the message's id, from the response to the send", "MESSAGE_ID"};
  if (name == "requestId") return {"the request's id; see the list of open requests", "REQUEST_ID"};
  RELAY_ASSERT(false);
}

std::vector<int> errors_of(const Route& route) {
  std::vector<int> errors = {400, 401, 403};
  const bool chooses =
      route.in_workspace != nullptr ||
      std::ranges::any_of(route.parameters, [](const auto& parameter) { return parameter.name == "workspace"; });
  if (!path_parameters(route.path).empty()) errors.push_back(404);
  if (chooses) errors.insert(errors.end(), {404, 409});
  if (route.method != Method::Get) errors.insert(errors.end(), {409, 415});
  if (route.takes_body()) errors.push_back(413);
  if (route.access != Access::Public) errors.insert(errors.end(), {429, 503, 504});  // it needs the daemon
  if (route.status == 101) errors.push_back(426);
  std::sort(errors.begin(), errors.end());
  errors.erase(std::unique(errors.begin(), errors.end()), errors.end());
  return errors;
}

Match match_route(std::string_view method, const std::vector<std::string>& segments) {
  Match match;
  std::size_t fewest_parameters = SIZE_MAX;
  const auto routes = route_table();
  for (std::size_t i = 0; i < routes.size(); ++i) {
    const auto& route = routes[i];
    auto values = match_segments(patterns()[i], segments);
    if (!values) continue;
    const bool same = method == name_of(route.method) || (method == "HEAD" && route.method == Method::Get);
    if (!same) {
      match.other_methods.push_back(route.method);
    } else if (values->size() < fewest_parameters) {
      fewest_parameters = values->size();
      match.route = &route;
      match.values = *std::move(values);
    }
  }
  return match;
}

std::string method_list(std::span<const Method> methods) {
  std::string list;
  for (const auto method : methods) {
    list += (list.empty() ? "" : ", ") + std::string{name_of(method)};
    if (method == Method::Get) list += ", HEAD";
  }
  return list;
}

}  // namespace relay::api
