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
  return not_found(format("no agent called {} runs in a host of this workspace; GET /agents lists all", name));
}

/// Those that a person started are that person's to type into and to end.
ApiError not_ours(const host::HostRecord& host) {
  return conflict("UNSUPPORTED",
                  format("{} was not started by the relay (pid {}): whoever started it types into it and "
                         "ends it",
                         host.name, host.pid));
}

/// The agent's host, when the relay started it; else the client is told, and nothing comes.
bool is_ours(Api& api, const WorkspaceClient& relay, const std::string& name, Call& call) {
  const auto host = find_host(api.doors.hosts_in(relay.hosts()), name);
  if (!host) return call.refuse(no_host(name)), false;
  if (!host->spawned) return call.refuse(not_ours(*host)), false;
  return true;
}

void control(WorkspaceClient& relay, std::string_view action, Call call) {
  const auto why = call.body_as<ReasonBody>();
  if (!why) return call.refuse(why.error());
  json::object payload = {{"action", action}, {"agent", call.value("name")}};
  if (why->reason) payload["reason"] = *why->reason;
  ask(relay, MessageType::Control, std::move(payload), std::move(call), done);
}

void ask_door(Api& api, WorkspaceHandle workspace, const std::string& name, json::object request, Call call,
              Then then) {
  const auto host = find_host(api.doors.hosts_in(workspace.relay.hosts()), name);
  if (!host) return call.refuse(no_host(name));
  api.doors.ask(*host, std::move(request),
                [call = std::move(call), then = std::move(then)](ApiResult<json::object> answer) mutable {
                  if (!answer) return call.refuse(answer.error());
                  then(std::move(call), *std::move(answer));
                });
}

std::vector<std::string> lines_of(std::string_view screen, std::size_t most) {
  std::vector<std::string> lines;
  while (!screen.empty()) {
    const auto end = std::min(screen.find('\n'), screen.size());
    lines.emplace_back(screen.substr(0, end));
    screen.remove_prefix(std::min(end + 1, screen.size()));
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  if (lines.size() > most) lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(most));
  return lines;
}

}  // namespace

void stop_agent(Api& api, WorkspaceHandle workspace, const std::string& name, Call call) {
  const auto why = call.body_as<ReasonBody>();
  if (!why) return call.refuse(why.error());
  if (!is_ours(api, workspace.relay, name, call)) return;
  json::object payload = {{"name", name}, {"by", kOwnName}};
  if (why->reason) payload["reason"] = *why->reason;
  ask(workspace.relay, MessageType::Release, std::move(payload), std::move(call), [](Call asked, const json::object&) {
    const int status = asked.route().status;
    if (status == 204) return asked.answer_no_content();
    asked.answer(status, SuccessBody{});
  });
}

void pause_agent(Api&, WorkspaceHandle workspace, Call call) { control(workspace.relay, "pause", std::move(call)); }
void resume_agent(Api&, WorkspaceHandle workspace, Call call) { control(workspace.relay, "unpause", std::move(call)); }

void send_input(Api& api, WorkspaceHandle workspace, const std::string& name, Call call) {
  const auto keys = call.body_as<InputBody>();
  if (!keys) return call.refuse(keys.error());
  if (!is_ours(api, workspace.relay, name, call)) return;
  ask(workspace.relay, MessageType::SendInput, {{"name", name}, {"data", keys->input}}, std::move(call), done);
}

void interrupt_agent(Api& api, WorkspaceHandle workspace, const std::string& name, Call call) {
  ask_door(api, workspace, name, {{"method", "interrupt"}}, std::move(call), done);
}

void get_output(Api& api, WorkspaceHandle workspace, const std::string& name, Call call) {
  const auto limit = call.number("limit", 1, kMaxLines);
  if (!limit) return call.refuse(limit.error());
  ask_door(api, workspace, name, {{"method", "screen"}, {"format", "text"}}, std::move(call),
           [most = static_cast<std::size_t>(limit->value_or(kMaxLines))](Call asked, const json::object& answer) {
             asked.answer(200, AgentOutput{.output = lines_of(string_member(answer, "screen").value_or(""), most),
                                           .columns = integer_member(answer, "columns").value_or(0),
                                           .rows = integer_member(answer, "rows").value_or(0)});
           });
}

}  // namespace relay::api
