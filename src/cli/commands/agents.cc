/// `agent-relay agents`
#include "base/format.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/framework/context.h"
#include "cli/framework/invocation.h"
#include "cli/render/times.h"
#include "cli/wire/json_fields.h"
#include "cli/wire/workspace.h"
#include "host/control/running_hosts.h"

namespace relay::cli {
namespace {

/// `offline since 14:02`, or `offline` without a time.
std::string connection_of(const json::object& agent, WallMs now) {
  if (!bool_member(agent, "idle").value_or(false)) return "connected";
  const auto since = time_in(agent, "offlineSince");
  return since > 0 ? relay::format("offline since {}", short_clock(since, now)) : "offline";
}

std::string state_of(const json::object& agent) {
  std::string state{state_word(display_field(agent, "state"))};
  const auto* can = object_member(agent, "capabilities");
  if (bool_member(agent, "observed").value_or(false)) {
    state += state.empty() ? "observed" : ", observed";
    if (can != nullptr && can->contains("delivery")) state += ", has an inbox";
    if (const auto reason = display_field(agent, "reason"); !reason.empty()) state += ": " + reason;
  }
  if (can != nullptr && !bool_member(*can, "terminal").value_or(true))
    state += state.empty() ? "no terminal" : ", no terminal";
  if (!bool_member(agent, "paused").value_or(false)) return state.empty() ? "-" : state;
  return state.empty() ? "paused" : state + ", paused";
}

/// `3: it is working; 1 held`
std::string pending_of(const json::object& agent) {
  const auto pending = integer_member(agent, "pending").value_or(0), held = integer_member(agent, "held").value_or(0);
  if (pending == 0 && held == 0) return "-";
  const auto reason = display_field(agent, "reason");
  return relay::format("{}{}{}", pending, pending == 0 || reason.empty() ? "" : ": " + reason,
                       held > 0 ? relay::format("; {} held", held) : "");
}

/// On the wire `idle` means offline; beside `state` it would be misread. The wire's `active` is `working` here.
json::array to_output(json::array agents) {
  for (auto& value : agents) {
    auto* agent = value.if_object();
    if (agent == nullptr) continue;
    (*agent)["connected"] = !bool_member(*agent, "idle").value_or(false);
    agent->erase("idle");
    if (const auto state = string_member(*agent, "state")) (*agent)["state"] = state_word(*state);
  }
  return agents;
}

/// Agents that run and are not listed: their hosts reconnect to a restarted daemon within a second or two.
std::string reconnecting_agents(const Context& context, const std::string& listed) {
  std::string names;
  for (const auto& host : host::running_hosts(context.project.hosts)) {
    const auto name = sanitize(host.name, Lines::Join);
    if (("\n" + listed).find("\n" + name + "\n") == std::string::npos) names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

ExitCode run(const Invocation& invocation, Context& context) {
  auto connection = RELAY_CLI_TRY(join_workspace(context));
  const json::object query = {{"includeIdle", invocation.has("--all")}};
  const auto payload = RELAY_CLI_TRY(connection.request(protocol::MessageType::ListAgents, json::serialize(query)));
  const auto answer = RELAY_CLI_TRY(parse_json_object(payload));
  const auto* agents = array_member(answer, "agents");
  if (invocation.has("--json")) {
    print(json::serialize(json::object{{"agents", agents != nullptr ? to_output(*agents) : json::array{}}}) + "\n");
    return ExitCode::Ok;
  }
  Table columns{{"NAME", context.is_narrow() ? "" : "STATUS", "PROGRAM", "STATE", "PENDING"}};
  std::string names;
  for (const auto& value : agents != nullptr ? *agents : json::array{}) {
    const auto* agent = value.if_object();
    if (agent == nullptr) continue;
    const auto name = sanitize(string_member(*agent, "name").value_or("?"), Lines::Join);
    names += name + "\n";
    columns.add({name, connection_of(*agent, context.now()),
                 sanitize(string_member(*agent, "cli").value_or("-"), Lines::Join), state_of(*agent),
                 pending_of(*agent)});
  }
  if (invocation.has("--names"))
    print(names);
  else if (!columns.empty())
    print(columns.text(context.paint, context.width()));
  else
    print_notice(invocation.has("--all")
                     ? "no agent has joined this workspace yet; join with: agent-relay chat --name NAME"
                     : "no agent is connected; list offline agents with: agent-relay agents --all");
  if (const auto missing = reconnecting_agents(context, names); !missing.empty())
    print_notice(relay::format("running, not connected yet: {}", missing));
  return ExitCode::Ok;
}

constexpr Option kOptions[] = {
    {.name = "--all", .description = "list offline agents too"},
    {.name = "--names", .description = "print only names, one per line", .hidden = true},
    kJsonOption,
};

}  // namespace

const Command kAgents = {
    .name = "agents",
    .group = Group::Agents,
    .usage = "agents",
    .summary = "list connected agents",
    .hint = "[--all]",
    .options = kOptions,
    .example = "agent-relay agents --all",
    .needs_daemon = true,
    .run = run,
};

}  // namespace relay::cli
