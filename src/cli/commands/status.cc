/// `agent-relay status`
#include "base/format.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/doctor/disk.h"
#include "cli/framework/context.h"
#include "cli/framework/invocation.h"
#include "cli/render/times.h"
#include "cli/wire/control_request.h"
#include "cli/wire/daemon_control.h"
#include "cli/wire/workspace.h"

namespace relay::cli {
namespace {

struct AgentSummary {
  std::int64_t connected = 0, offline = 0, pending = 0;
  std::vector<std::string> reasons = {};  // one for each agent with pending messages and a reason
};

Result<AgentSummary> summarize_agents(DaemonConnection& connection) {
  const auto payload = RELAY_TRY(connection.request(protocol::MessageType::ListAgents, R"({"includeIdle":true})"));
  const auto answer = RELAY_TRY(parse_json_object(payload));
  AgentSummary found;
  if (const auto* agents = array_member(answer, "agents"))
    for (const auto& value : *agents)
      if (const auto* agent = value.if_object()) {
        ++(bool_member(*agent, "idle").value_or(false) ? found.offline : found.connected);
        const auto pending = integer_member(*agent, "pending").value_or(0);
        found.pending += pending;
        if (const auto reason = string_member(*agent, "reason"); reason && pending > 0)
          found.reasons.push_back(
              sanitize(relay::format("{} for {}: {}", pending, string_member(*agent, "name").value_or("?"), *reason),
                       Lines::Join));
      }
  return found;
}

std::string storage_line(const json::object& status, const Styler& paint) {
  const auto* storage = object_member(status, "storage");
  if (storage == nullptr) return "unknown";
  auto line = sanitize(string_member(*storage, "driver").value_or("unknown"), Lines::Join);
  line += bool_member(*storage, "persistent").value_or(false) ? ", durable" : ", lost when the daemon stops";
  const auto error = string_member(*storage, "error");
  if (!bool_member(*storage, "canWrite").value_or(true))
    return relay::format("{}; {}: {}; messages are refused until a write succeeds", line,
                         paint(Color::Red, "the last write failed"), sanitize(error.value_or("unknown"), Lines::Join));
  if (error) line += relay::format("; error: {}", sanitize(*error, Lines::Join));
  return line;
}

/// Where messages are written: the store's directory, and with it the relay home.
DiskState disk_state(const Context& context, const json::object& status) {
  const auto* storage = object_member(status, "storage");
  const bool durable = storage != nullptr && bool_member(*storage, "persistent").value_or(false);
  const auto settings = config::load_settings(context.home, context.environment);
  auto state = inspect_disk(context.home.root);
  if (state.problem.empty() && durable && settings)
    state = inspect_disk(config::database_path(*settings, context.project));
  return state;
}

std::string joined(const json::array& names) {
  std::string text;
  for (const auto& name : names)
    if (const auto* one = name.if_string()) text += (text.empty() ? "" : ", ") + sanitize(*one, Lines::Join);
  return text;
}

/// Adds rows for conditions that need attention.
void add_warnings(Table& columns, const json::object& status, const Styler& paint) {
  if (const auto* paused = array_member(status, "paused"); paused != nullptr && !paused->empty())
    columns.add(
        {"paused", relay::format("{}; resume with: agent-relay unpause NAME", paint(Color::Yellow, joined(*paused)))});
  if (const auto loops = integer_member(status, "loops").value_or(0); loops > 0)
    columns.add(
        {"loops", relay::format("{} stopped for looping; see: agent-relay loops",
                                paint(Color::Yellow, loops == 1 ? "1 pair" : relay::format("{} pairs", loops)))});
  if (const auto* storage = object_member(status, "storage"))
    if (const auto damage = string_member(*storage, "damage"))
      columns.add({"damage", paint(Color::Red, sanitize(*damage, Lines::Join))});
  if (const auto* storage = object_member(status, "storage"))
    if (const auto refused = integer_member(*storage, "refusedChanges").value_or(0); refused > 0)
      columns.add({"refused", relay::format("{} acknowledged changes conflict with the store; the daemon retries them "
                                            "at each start; see: agent-relay doctor",
                                            paint(Color::Red, relay::format("{}", refused)))});
  if (const auto dead = integer_member(status, "dead").value_or(0); dead > 0)
    columns.add(
        {"dead", relay::format("{} not delivered; see: agent-relay dead", paint(Color::Red, message_count(dead)))});
}

ExitCode run(const Invocation& invocation, Context& context) {
  auto connection = RELAY_CLI_TRY(join_workspace(context));
  const auto payload = RELAY_CLI_TRY(connection.request(protocol::MessageType::Status, "{}"));
  auto status = RELAY_CLI_TRY(parse_json_object(payload));
  const auto agents = RELAY_CLI_TRY(summarize_agents(connection));
  const auto pid = peer_of(connection).value_or(0);
  const auto socket = config::socket_to_connect(context.project.socket);
  const auto http = http_service(context, pid);
  const auto disk = disk_state(context, status);
  if (invocation.has("--json")) {
    status["pid"] = pid;
    status["socket"] = socket;
    if (!http.url.empty()) status["http"] = http.url;
    if (!http.error.empty()) status["httpError"] = http.error;
    status["disk"] = json::object{{"free", disk.free_bytes}};
    if (!disk.problem.empty()) status["disk"].as_object()["problem"] = disk.problem;
    status["project"] = json::object{{"root", context.project.root}, {"id", context.project.id}};
    status["agents"] =
        json::object{{"connected", agents.connected}, {"offline", agents.offline}, {"pending", agents.pending}};
    print(json::serialize(status) + "\n");
    return ExitCode::Ok;
  }
  const Millis uptime{integer_member(status, "uptime").value_or(0)};
  const auto& paint = context.paint;
  Table columns{{}};
  columns.add({"daemon", relay::format("{}, version {}, pid {}, up {}", paint(Color::Green, "running"),
                                       sanitize(string_member(status, "version").value_or("?"), Lines::Join), pid,
                                       short_duration(uptime))});
  columns.add({"workspace", relay::format("{} ({})", context.project.root, context.project.id)});
  columns.add({"socket", socket});
  if (!http.url.empty()) columns.add({"http", http.url});
  if (!http.error.empty())
    columns.add({"http", relay::format("{}: {}; {}", paint(Color::Red, "not served"), sanitize(http.error, Lines::Join),
                                       kHttpFix)});
  columns.add({"storage", storage_line(status, paint)});
  if (!disk.problem.empty())
    columns.add({"disk", relay::format("{}; {}", paint(Color::Red, sanitize(disk.problem, Lines::Join)), disk.fix)});
  const auto oldest = integer_member(status, "oldestPendingMs");
  columns.add(
      {"agents",
       relay::format(
           "{} connected, {} offline; {} pending{}", agents.connected, agents.offline, message_count(agents.pending),
           oldest && agents.pending > 0 ? relay::format(", the oldest for {}", short_duration(Millis{*oldest})) : "")});
  for (const auto& reason : agents.reasons) columns.add({"", reason});
  add_warnings(columns, status, paint);
  print(columns.text(paint, context.width()));
  return ExitCode::Ok;
}

constexpr Option kOptions[] = {kJsonOption};

}  // namespace

const Command kStatus = {
    .name = "status",
    .group = Group::Everyday,
    .usage = "status",
    .summary = "show connected agents and pending messages",
    .hint = "[--json]",
    .options = kOptions,
    .example = "agent-relay status",
    .run = run,
};

}  // namespace relay::cli
