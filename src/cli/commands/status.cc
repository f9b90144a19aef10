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

struct Presence {
  std::int64_t here = 0, away = 0, waiting = 0;
  std::vector<std::string> reasons = {};  // one for each agent that is here and has mail waiting
};

Result<Presence> presence(DaemonConnection& connection) {
  const auto payload = RELAY_TRY(connection.request(protocol::MessageType::ListAgents, R"({"includeIdle":true})"));
  const auto answer = RELAY_TRY(parse_json_object(payload));
  Presence found;
  if (const auto* agents = array_member(answer, "agents"))
    for (const auto& value : *agents)
      if (const auto* agent = value.if_object()) {
        ++(bool_member(*agent, "idle").value_or(false) ? found.away : found.here);
        const auto pending = integer_member(*agent, "pending").value_or(0);
        found.waiting += pending;
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
  line += bool_member(*storage, "persistent").value_or(false) ? ", durable" : ", forgotten when the daemon ends";
  const auto error = string_member(*storage, "error");
  if (!bool_member(*storage, "canWrite").value_or(true))
    return relay::format("{}; {}: {}; messages are refused until it can be written", line,
                         paint(Colour::Red, "the last write failed"), sanitize(error.value_or("unknown"), Lines::Join));
  if (error) line += relay::format("; problem: {}", sanitize(*error, Lines::Join));
  return line;
}

/// Where messages are written: the store's directory, and with it the home.
DiskState disk_state(const Context& context, const json::object& status) {
  const auto* storage = object_member(status, "storage");
  const bool durable = storage != nullptr && bool_member(*storage, "persistent").value_or(false);
  const auto settings = config::load_settings(context.home, context.environment);
  auto state = look_at_disk(context.home.root);
  if (state.problem.empty() && durable && settings)
    state = look_at_disk(config::database_path(*settings, context.project));
  return state;
}

std::string joined(const json::array& names) {
  std::string text;
  for (const auto& name : names)
    if (const auto* one = name.if_string()) text += (text.empty() ? "" : ", ") + sanitize(*one, Lines::Join);
  return text;
}

/// What a person may want to look at; nothing when there is nothing.
void add_errors(Table& columns, const json::object& status, const Styler& paint) {
  if (const auto* paused = array_member(status, "paused"); paused != nullptr && !paused->empty())
    columns.add({"paused", relay::format("{}; let it go on with: agent-relay unpause NAME",
                                         paint(Colour::Yellow, joined(*paused)))});
  if (const auto loops = integer_member(status, "loops").value_or(0); loops > 0)
    columns.add(
        {"loops", relay::format("{} stopped from answering each other; see: agent-relay loops",
                                paint(Colour::Yellow, loops == 1 ? "1 pair" : relay::format("{} pairs", loops)))});
  if (const auto* storage = object_member(status, "storage"))
    if (const auto damage = string_member(*storage, "damage"))
      columns.add({"damage", paint(Colour::Red, sanitize(*damage, Lines::Join))});
  if (const auto* storage = object_member(status, "storage"))
    if (const auto refused = integer_member(*storage, "refusedChanges").value_or(0); refused > 0)
      columns.add(
          {"refused", relay::format("{} acknowledged changes contradict the store; they are tried again at each "
                                    "start; see: agent-relay doctor",
                                    paint(Colour::Red, relay::format("{}", refused)))});
  if (const auto dead = integer_member(status, "dead").value_or(0); dead > 0)
    columns.add({"dead", relay::format("{} not delivered; see: agent-relay dead",
                                       paint(Colour::Red, messages_in_words(dead)))});
}

ExitCode run(const Invocation& invocation, Context& context) {
  auto connection = RELAY_CLI_TRY(join_workspace(context));
  const auto payload = RELAY_CLI_TRY(connection.request(protocol::MessageType::Status, "{}"));
  auto status = RELAY_CLI_TRY(parse_json_object(payload));
  const auto people = RELAY_CLI_TRY(presence(connection));
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
    status["agents"] = json::object{{"here", people.here}, {"away", people.away}, {"waiting", people.waiting}};
    print(json::serialize(status) + "\n");
    return ExitCode::Ok;
  }
  const Millis uptime{integer_member(status, "uptime").value_or(0)};
  const auto& paint = context.paint;
  Table columns{{}};
  columns.add({"daemon", relay::format("{}, version {}, pid {}, up {}", paint(Colour::Green, "running"),
                                       sanitize(string_member(status, "version").value_or("?"), Lines::Join), pid,
                                       short_duration(uptime))});
  columns.add({"workspace", relay::format("{} ({})", context.project.root, context.project.id)});
  columns.add({"socket", socket});
  if (!http.url.empty()) columns.add({"http", http.url});
  if (!http.error.empty())
    columns.add({"http", relay::format("{}: {}; {}", paint(Colour::Red, "not served"),
                                       sanitize(http.error, Lines::Join), kHttpAdvice)});
  columns.add({"storage", storage_line(status, paint)});
  if (!disk.problem.empty())
    columns.add(
        {"disk", relay::format("{}; {}", paint(Colour::Red, sanitize(disk.problem, Lines::Join)), disk.advice)});
  const auto oldest = integer_member(status, "oldestPendingMs");
  columns.add(
      {"agents",
       relay::format(
           "{} here, {} away; {} waiting{}", people.here, people.away, messages_in_words(people.waiting),
           oldest && people.waiting > 0 ? relay::format(", the oldest for {}", short_duration(Millis{*oldest})) : "")});
  for (const auto& reason : people.reasons) columns.add({"", reason});
  add_errors(columns, status, paint);
  print(columns.text(paint, context.width()));
  return ExitCode::Ok;
}

constexpr Option kOptions[] = {kJsonOption};

}  // namespace

const Command kStatus = {
    .name = "status",
    .group = Group::Everyday,
    .usage = "status",
    .summary = "who is here, what is waiting",
    .hint = "[--json]",
    .options = kOptions,
    .example = "agent-relay status",
    .run = run,
};

}  // namespace relay::cli
