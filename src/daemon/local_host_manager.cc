#include "daemon/local_host_manager.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "base/directory.h"
#include "base/format.h"
#include "daemon/host_environment.h"
#include "host/control/ended_sessions.h"
#include "host/control/host_protocol.h"
#include "host/control/running_hosts.h"
#include "host/spawn_protocol.h"
#include "protocol/send.h"
#include "pty/command.h"
#include "text/json_writer.h"

namespace relay::daemon {
namespace {

constexpr std::size_t kMaxPartBytes = 10'000;  // of keys in one request
constexpr std::size_t kMaxEscapedBytes = 6;    // of one byte in JSON
static_assert(kMaxPartBytes * kMaxEscapedBytes + 100 <= host::kMaxRequestBytes);

/// As much as fits one request, without splitting a character.
std::string_view next_part(std::string_view data) {
  if (data.size() <= kMaxPartBytes) return data;
  std::size_t end = kMaxPartBytes;
  while (end > 1 && (static_cast<unsigned char>(data[end]) & 0xC0) == 0x80) --end;
  return data.substr(0, end);
}

/// The directory is the root or lies below it, and no link leads to it.
bool is_inside(const std::string& root, const std::string& directory) {
  if (directory == root) return true;
  if (!directory.starts_with(root + "/")) return false;
  std::vector<std::string> names;
  for (const auto& name : std::filesystem::path{directory.substr(root.size() + 1)})
    if (!name.empty() && name != ".") names.push_back(name.string());
  const auto found = DiskDirectory::find_inside(root, names);
  return found && *found != nullptr;
}

bool is_directory(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

broker::Worker worker_of(const host::HostRecord& record) {
  return {.name = record.name,
          .cli = record.cli,
          .task = record.task,
          .team = record.team,
          .spawner = record.spawner,
          .model = record.model,
          .directory = record.working_directory,
          .started = record.started_at,
          .pid = record.host_pid};
}

std::string_view decision_of(broker::PromptAnswer::Decision decision) {
  switch (decision) {
    case broker::PromptAnswer::Decision::Approve: return "approve";
    case broker::PromptAnswer::Decision::Deny: return "deny";
    case broker::PromptAnswer::Decision::Timeout: return "timeout";
  }
  return "";
}

}  // namespace

LocalHostManager::LocalHostManager(const config::Home& home, const config::Project& project, net::EventLoop& loop,
                                   net::Network& network, HostLauncher& launcher)
    : home_{home.root},
      root_{project.root},
      records_{project.hosts},
      loop_{loop},
      network_{network},
      launcher_{launcher} {}

LocalHostManager::~LocalHostManager() = default;

void LocalHostManager::start(broker::HostSpec spec, Started done) {
  auto command = command_for(spec);
  if (!command) return post_result(std::move(done), Result<std::int32_t>{Failure{std::move(command).error()}});
  ++starting_;
  launcher_.start(*std::move(command), [this, alive = lifetime_.watch(), name = std::move(spec.name),
                                        done = std::move(done)](Result<std::int32_t> pid) mutable {
    if (!alive) return;
    --starting_;
    if (!pid) pid = fail(format("cannot start {}: {}", name, pid.error().message()));
    done(std::move(pid));
  });
}

Result<HostCommand> LocalHostManager::command_for(const broker::HostSpec& spec) const {
  const auto recorded = host::running_hosts(records_);
  for (const auto& one : recorded)
    if (one.name == spec.name && host::is_reachable(records_, one))
      return fail(format("{} runs already (pid {}); choose another name, or release it first", one.name, one.host_pid));
  const auto others = static_cast<std::size_t>(std::ranges::count(recorded, true, &host::HostRecord::spawned));
  if (others + starting_ >= kMaxHosts) return fail(format("{} agents run already; release one first", others));
  HostCommand command;
  command.directory = spec.directory.empty()            ? root_
                      : spec.directory.starts_with('/') ? spec.directory
                                                        : format("{}/{}", root_, spec.directory);
  if (!is_directory(command.directory))
    return fail(format("cannot start {} in {}: there is no such directory", spec.name, command.directory));
  if (spec.inside_project && !is_inside(root_, command.directory))
    return fail(
        format("cannot start {} in {}: agents may start others only in directories inside the project, and "
               "behind no link; choose another directory, or ask your user to set [spawn] by_agents = \"ask\"",
               spec.name, command.directory));

  // Each option and its value are one argument, so no value is parsed as an option.
  command.arguments = {"run", "--detached", "--spawned", format("--ready-fd={}", host::kReadyFd),
                       "--name=" + spec.name};
  if (!spec.model.empty()) command.arguments.push_back("--model=" + spec.model);
  command.arguments.emplace_back("--");
  command.arguments.insert(command.arguments.end(), spec.argv.begin(), spec.argv.end());

  command.environment = spec.environment.empty() ? pty::inherited_environment() : spec.environment;
  prepare_for_host(command.environment);
  // Not as arguments, which every user of the machine can read.
  const auto set = [&](std::string_view variable, const std::string& value) {
    if (!value.empty()) pty::set_variable(command.environment, variable, value);
  };
  set(host::kTaskVariable, spec.task);
  set(host::kSpawnerVariable, spec.spawner);
  set(host::kTeamVariable, spec.team);
  pty::set_variable(command.environment, "AGENT_RELAY_HOME", home_);
  pty::set_variable(command.environment, "AGENT_RELAY_PROJECT", root_);
  pty::set_variable(command.environment, "PWD", command.directory);
  return command;
}

Result<host::HostRecord> LocalHostManager::find(const std::string& name) const {
  auto recorded = host::running_hosts(records_);
  const auto youngest = std::ranges::find(recorded.rbegin(), recorded.rend(), name, &host::HostRecord::name);
  if (youngest == recorded.rend()) return fail(format("no agent called '{}' runs here", name));
  return std::move(*youngest);
}

/// Two hosts may have one name: the prompt's id identifies the right one.
Result<host::HostRecord> LocalHostManager::find_prompting_host(const std::string& name,
                                                               std::string_view request) const {
  for (auto& record : host::running_hosts(records_))
    if (record.name == name && request.starts_with(record.id + "-")) return std::move(record);
  return find(name);
}

Result<host::HostRecord> LocalHostManager::find_spawned(const std::string& name) const {
  auto record = RELAY_TRY(find(name));
  if (!record.spawned)
    return fail(format("{} was not started by SPAWN; only the user who started it may type there and end it", name));
  return record;
}

void LocalHostManager::release(const std::string& name, const broker::Release& release, Done done) {
  auto record = find_spawned(name);
  if (!record) return post_result(std::move(done), Result<void>{Failure{std::move(record).error()}});
  if (release.own_only && record->name != release.by && record->spawner != release.by)
    return post_result(std::move(done),
                       Result<void>{fail(format("{} was started by {}, and an agent ends only itself and those "
                                                "it started; ask your user to run `agent-relay release {}`",
                                                name, record->spawner, name))});
  text::JsonWriter request;
  request.field("method", "release").optional("reason", release.reason).optional("by", release.by);
  call({.agent = record->name,
        .socket = record->socket,
        .body = request.take(),
        .until = host::CallUntil::HostEnd,
        .timeout = kReleaseTimeout},
       std::move(done));
}

void LocalHostManager::type(const std::string& name, std::string data, Done done) {
  auto& queued = inputs_[name];
  queued.push_back({std::move(data), std::move(done)});
  if (queued.size() == 1) type_next(name);
}

void LocalHostManager::type_next(const std::string& name) {
  const auto record = find_spawned(name);
  const QueuedInput& first = inputs_[name].front();
  const auto part = next_part(std::string_view{first.data}.substr(first.typed));
  auto done = [this, name, bytes = part.size()](Result<void> outcome) { on_typed(name, bytes, std::move(outcome)); };
  if (!record) return post_result(std::move(done), Result<void>{Failure{record.error()}});
  text::JsonWriter request;
  request.field("method", "input").field("data", part);
  call({.agent = record->name, .socket = record->socket, .body = request.take(), .timeout = kTypeTimeout},
       std::move(done));
}

void LocalHostManager::on_typed(const std::string& name, std::size_t bytes, Result<void> outcome) {
  const auto queued = inputs_.find(name);
  QueuedInput& first = queued->second.front();
  if (outcome) first.typed += bytes;
  if (outcome && first.typed < first.data.size()) return type_next(name);
  if (!outcome && first.typed > 0)
    outcome =
        fail(format("{}; {} of {} bytes were typed before", outcome.error().message(), first.typed, first.data.size()));
  auto done = std::move(first.done);
  queued->second.pop_front();
  if (queued->second.empty())
    inputs_.erase(queued);
  else
    type_next(name);
  done(std::move(outcome));
}

void LocalHostManager::list(Listed done) {
  std::vector<broker::Worker> workers;
  for (const auto& record : host::running_hosts(records_))
    if (record.spawned) workers.push_back(worker_of(record));
  post_result(std::move(done), Result<std::vector<broker::Worker>>{std::move(workers)});
}

void LocalHostManager::answer(broker::AnswerPrompt effect, Done done) {
  const auto record = find_prompting_host(effect.agent, effect.request);
  if (!record) {
    const auto reason = format("{} runs in no host that could answer: {}", effect.agent, record.error().message());
    return post_result(std::move(done), Result<void>{fail(protocol::NackCode::Unsupported, reason)});
  }
  text::JsonWriter request;
  request.field("method", "answer")
      .field("prompt", effect.request)
      .field("decision", decision_of(effect.answer.decision));
  request.optional("message", effect.answer.reason).field("by", effect.by);
  if (!effect.answer.answers.empty()) {
    request.begin_array("answers");
    for (const auto& text : effect.answer.answers) request.element(text);
    request.end();
  }
  call({.agent = record->name, .socket = record->socket, .body = request.take(), .timeout = kAnswerTimeout},
       std::move(done));
}

void LocalHostManager::show_dialog(const std::string& agent, const std::string& request) {
  const auto record = find_prompting_host(agent, request);
  if (!record) return;
  text::JsonWriter body;
  body.field("method", "show-dialog").field("prompt", request);
  call({.agent = record->name, .socket = record->socket, .body = body.take(), .timeout = kAnswerTimeout},
       [](const Result<void>&) {});
}

std::vector<protocol::EndedSession> LocalHostManager::ended_sessions() { return host::ended_sessions(records_); }

void LocalHostManager::forget_ended_session(const SessionId& session) {
  host::remove_ended_session(records_, session.value());
}

void LocalHostManager::call(host::HostCallRequest request, Done done) {
  const std::uint64_t id = ++last_call_;
  auto on_response = [this, id, done = std::move(done)](const Result<json::object>& response) mutable {
    auto callback = std::move(done);
    const auto ended = calls_.extract(id);  // disconnects on return
    callback(response ? Result<void>{} : Failure{response.error()});
  };
  calls_.emplace(id, std::make_unique<host::HostCall>(loop_, network_, std::move(request), std::move(on_response)));
}

template <typename Callback, typename Value>
void LocalHostManager::post_result(Callback done, Value value) {
  loop_.post([alive = lifetime_.watch(), done = std::move(done), value = std::move(value)]() mutable {
    if (alive) done(std::move(value));
  });
}

}  // namespace relay::daemon
