#include "daemon/host_keeper.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "base/format.h"
#include "protocol/json_writer.h"
#include "pty/command.h"

namespace relay::daemon {
namespace {

constexpr std::size_t kMaxRequestBytes = 64 * 1024;  // a host's door takes no larger frame

/// What a service manager or another agent told the daemon is not for its hosts.
constexpr std::array<std::string_view, 5> kNotInherited = {
    "NOTIFY_SOCKET=", "WATCHDOG_PID=", "WATCHDOG_USEC=", "LISTEN_PID=", "LISTEN_FDS="};

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
          .pid = record.pid};
}

}  // namespace

HostKeeper::HostKeeper(const config::Home& home, const config::Project& project, net::EventLoop& loop,
                       net::Network& network, HostLauncher& launcher)
    : home_{home.root},
      root_{project.root},
      records_{project.hosts},
      loop_{loop},
      network_{network},
      launcher_{launcher} {}

HostKeeper::~HostKeeper() { *alive_ = false; }

void HostKeeper::start(broker::HostOrder order, Started done) {
  auto command = command_for(order);
  if (!command) return later(std::move(done), Result<std::int32_t>{Failure{std::move(command).error()}});
  ++starting_;
  launcher_.start(*std::move(command), [this, alive = alive_, name = std::move(order.name),
                                        done = std::move(done)](Result<std::int32_t> pid) mutable {
    if (!*alive) return;
    --starting_;
    if (!pid) pid = fail(format("cannot start {}: {}", name, pid.error().message()));
    done(std::move(pid));
  });
}

Result<HostCommand> HostKeeper::command_for(const broker::HostOrder& order) const {
  const auto living = host::living_hosts(records_);
  const auto same = std::ranges::find(living, order.name, &host::HostRecord::name);
  if (same != living.end())
    return fail(format("{} runs already (pid {}); choose another name, or release it first", order.name, same->pid));
  const auto others = static_cast<std::size_t>(std::ranges::count(living, true, &host::HostRecord::spawned));
  if (others + starting_ >= kMaxHosts) return fail(format("{} agents run already; release one first", others));
  HostCommand command;
  command.directory = order.directory.empty()            ? root_
                      : order.directory.starts_with('/') ? order.directory
                                                         : format("{}/{}", root_, order.directory);
  if (!is_directory(command.directory))
    return fail(format("cannot start {} in {}: there is no such directory", order.name, command.directory));

  // Each with its value in one word, so that no value is taken for an option.
  command.arguments = {"run", "--detached", "--ready-fd=3", "--name=" + order.name};
  const auto add = [&](std::string_view option, const std::string& value) {
    if (!value.empty()) command.arguments.push_back(format("{}={}", option, value));
  };
  add("--spawner", order.spawner);
  add("--team", order.team);
  add("--model", order.model);
  add("--task", order.task);
  command.arguments.emplace_back("--");
  command.arguments.insert(command.arguments.end(), order.words.begin(), order.words.end());

  command.environment = pty::inherited_environment();
  std::erase_if(command.environment, [](const std::string& variable) {
    return std::ranges::any_of(kNotInherited, [&](std::string_view name) { return variable.starts_with(name); });
  });
  pty::set_variable(command.environment, "AGENT_RELAY_HOME", home_);
  pty::set_variable(command.environment, "AGENT_RELAY_PROJECT", root_);
  return command;
}

Result<host::HostRecord> HostKeeper::find(const std::string& name) const {
  auto record = host::host_of(records_, name);
  if (!record) return fail(format("no agent called '{}' runs here", name));
  if (!record->spawned)
    return fail(format("{} runs in a terminal of its own; it is that person's to type there and to end", record->name));
  return *std::move(record);
}

void HostKeeper::release(const std::string& name, const std::string& reason, Done done) {
  auto record = find(name);
  if (!record) return later(std::move(done), Result<void>{Failure{std::move(record).error()}});
  protocol::JsonWriter request;
  request.field("do", "release").optional("reason", reason);
  call({.agent = record->name,
        .socket = record->socket,
        .body = request.take(),
        .until = Until::End,
        .patience = kReleasePatience},
       std::move(done));
}

void HostKeeper::type(const std::string& name, std::string data, Done done) {
  auto& waiting = typing_[name];
  waiting.push_back({std::move(data), std::move(done)});
  if (waiting.size() == 1) type_next(name);
}

void HostKeeper::type_next(const std::string& name) {
  const auto record = find(name);
  protocol::JsonWriter request;
  request.field("do", "input").field("data", typing_[name].front().data);
  auto body = request.take();
  auto done = [this, name](Result<void> outcome) { typed(name, std::move(outcome)); };
  if (!record) return later(std::move(done), Result<void>{Failure{record.error()}});
  if (body.size() > kMaxRequestBytes)
    return later(std::move(done), Result<void>{fail("this is too much to type at once; send it in parts")});
  call({.agent = record->name, .socket = record->socket, .body = std::move(body), .patience = kTypePatience},
       std::move(done));
}

void HostKeeper::typed(const std::string& name, Result<void> outcome) {
  const auto waiting = typing_.find(name);
  auto done = std::move(waiting->second.front().done);
  waiting->second.pop_front();
  if (waiting->second.empty())
    typing_.erase(waiting);
  else
    type_next(name);
  done(std::move(outcome));
}

void HostKeeper::list(Listed done) {
  std::vector<broker::Worker> workers;
  for (const auto& record : host::living_hosts(records_))
    if (record.spawned) workers.push_back(worker_of(record));
  later(std::move(done), Result<std::vector<broker::Worker>>{std::move(workers)});
}

void HostKeeper::call(DoorRequest request, Done done) {
  const std::uint64_t id = ++last_call_;
  calls_.emplace(id, std::make_unique<DoorCall>(loop_, network_, std::move(request),
                                                [this, id, done = std::move(done)](Result<void> outcome) mutable {
                                                  auto tell = std::move(done);
                                                  const auto ended = calls_.extract(id);  // hangs up when we return
                                                  tell(std::move(outcome));
                                                }));
}

template <typename Callback, typename Value>
void HostKeeper::later(Callback done, Value value) {
  loop_.post([alive = alive_, done = std::move(done), value = std::move(value)]() mutable {
    if (*alive) done(std::move(value));
  });
}

}  // namespace relay::daemon
