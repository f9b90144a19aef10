#include "api/handlers/agent_bodies.h"
#include "api/handlers/handlers.h"
#include "api/handlers/workspace_bodies.h"
#include "api/http/route.h"
#include "base/format.h"

namespace relay::api {
namespace {

using protocol::MessageType;

constexpr std::int64_t kMaxLines = 10'000;

void done(Call call, const json::object&) { call.answer(200, SuccessBody{}); }

ApiError no_host(std::string_view name) {
  return not_found(format("no agent named {} runs in a host of this workspace; list agents with GET /agents", name));
}

/// Only agents that the daemon started take input and stop requests.
ApiError not_spawned_error(const host::HostRecord& host) {
  return conflict("UNSUPPORTED", format("{} was not started by the daemon (pid {}); use the terminal where it runs",
                                        host.name, host.host_pid));
}

/// True when the daemon started the agent; otherwise responds with the error.
bool check_spawned(Api& api, const WorkspaceClient& client, const std::string& name, Call& call) {
  const auto host = find_host(api.gateway.hosts_in(client.hosts()), name);
  if (!host) return call.refuse(no_host(name)), false;
  if (!host->spawned) return call.refuse(not_spawned_error(*host)), false;
  return true;
}

void control(WorkspaceClient& client, std::string_view action, Call call) {
  const auto body = call.body_as<ReasonBody>();
  if (!body) return call.refuse(body.error());
  json::object payload = {{"action", action}, {"agent", call.value("name")}};
  if (body->reason) payload["reason"] = *body->reason;
  send_request(client, MessageType::Control, std::move(payload), std::move(call), done);
}

void request_host(Api& api, WorkspaceHandle workspace, const std::string& name, json::object request, Call call,
                  Then then) {
  const auto host = find_host(api.gateway.hosts_in(workspace.client.hosts()), name);
  if (!host) return call.refuse(no_host(name));
  api.gateway.request(*host, std::move(request),
                      [call = std::move(call), then = std::move(then)](ApiResult<json::object> response) mutable {
                        if (!response) return call.refuse(response.error());
                        then(std::move(call), *std::move(response));
                      });
}

std::vector<std::string> lines_of(std::string_view screen, std::size_t max) {
  std::vector<std::string> lines;
  while (!screen.empty()) {
    const auto end = std::min(screen.find('\n'), screen.size());
    lines.emplace_back(screen.substr(0, end));
    screen.remove_prefix(std::min(end + 1, screen.size()));
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  if (lines.size() > max) lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(max));
  return lines;
}

}  // namespace

void stop_agent(Api& api, WorkspaceHandle workspace, const std::string& name, Call call) {
  const auto body = call.body_as<ReasonBody>();
  if (!body) return call.refuse(body.error());
  if (!check_spawned(api, workspace.client, name, call)) return;
  json::object payload = {{"name", name}, {"by", kApiName}};
  if (body->reason) payload["reason"] = *body->reason;
  send_request(workspace.client, MessageType::Release, std::move(payload), std::move(call),
               [](Call reply, const json::object&) {
                 const int status = reply.route().status;
                 if (status == 204) return reply.answer_no_content();
                 reply.answer(status, SuccessBody{});
               });
}

void pause_agent(Api&, WorkspaceHandle workspace, Call call) { control(workspace.client, "pause", std::move(call)); }
void resume_agent(Api&, WorkspaceHandle workspace, Call call) { control(workspace.client, "unpause", std::move(call)); }

void send_input(Api& api, WorkspaceHandle workspace, const std::string& name, Call call) {
  const auto keys = call.body_as<InputBody>();
  if (!keys) return call.refuse(keys.error());
  if (!check_spawned(api, workspace.client, name, call)) return;
  send_request(workspace.client, MessageType::SendInput, {{"name", name}, {"data", keys->input}}, std::move(call),
               done);
}

void interrupt_agent(Api& api, WorkspaceHandle workspace, const std::string& name, Call call) {
  request_host(api, workspace, name, {{"method", "interrupt"}}, std::move(call), done);
}

void get_output(Api& api, WorkspaceHandle workspace, const std::string& name, Call call) {
  const auto limit = call.number("limit", 1, kMaxLines);
  if (!limit) return call.refuse(limit.error());
  request_host(api, workspace, name, {{"method", "screen"}, {"format", "text"}}, std::move(call),
               [max = static_cast<std::size_t>(limit->value_or(kMaxLines))](Call reply, const json::object& response) {
                 reply.answer(200, AgentOutput{.output = lines_of(string_member(response, "screen").value_or(""), max),
                                               .columns = integer_member(response, "columns").value_or(0),
                                               .rows = integer_member(response, "rows").value_or(0)});
               });
}

}  // namespace relay::api
