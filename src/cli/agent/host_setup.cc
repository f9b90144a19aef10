#include "cli/agent/host_setup.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "adapters/adapter.h"
#include "adapters/launch_facts.h"
#include "base/format.h"
#include "base/json.h"
#include "cli/agent/self_path.h"
#include "cli/wire/workspace.h"
#include "config/paths.h"
#include "config/trust.h"
#include "host/agent_folder.h"
#include "host/friendly_name.h"
#include "host/instructions.h"
#include "host/spawn_protocol.h"
#include "profiles/registry.h"
#include "profiles/user_profiles.h"
#include "pty/inherited.h"
#include "text/utf8.h"

namespace relay::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHostIdBytes = 4;
constexpr std::size_t kMaxTaskBytes = 200;

/// Notices never mix with output that the program writes into a file or a pipe.
bool may_print_notices(const HostRequest& request) { return request.detached || ::isatty(STDERR_FILENO) == 1; }

/// The names of the agents of this workspace; none without a daemon.
std::vector<std::string> agent_names(const Context& context, bool may_notify = true) {
  std::vector<std::string> names;
  auto connection = join_workspace(context);
  if (!connection) {
    if (may_notify)
      print_notice(
          "the daemon is not running; the agent's messages are spooled until it runs; start it with: agent-relay up");
    return names;
  }
  const auto payload = connection->request(protocol::MessageType::ListAgents, R"({"includeIdle":true})");
  const auto answer = payload ? parse_json_object(*payload) : Result<json::object>{json::object{}};
  if (const auto* agents = answer ? array_member(*answer, "agents") : nullptr)
    for (const auto& value : *agents)
      if (const auto* agent = value.if_object()) names.push_back(string_member(*agent, "name").value_or(""));
  return names;
}

Result<std::string> working_directory() {
  std::error_code failed;
  auto here = fs::current_path(failed).string();
  if (failed) return fail(format("cannot determine the current directory: {}", failed.message()));
  return here;
}

/// An unreadable configuration does not stop an agent from running.
host::TerminalNotification terminal_notification(const Context& context) {
  const auto settings = config::load_settings(context.home, context.environment);
  if (!settings) return host::TerminalNotification::Off;
  switch (settings->notify_terminal()) {
    case config::TerminalNotification::Off: return host::TerminalNotification::Off;
    case config::TerminalNotification::Osc9: return host::TerminalNotification::Osc9;
    case config::TerminalNotification::Osc777: return host::TerminalNotification::Osc777;
  }
  return host::TerminalNotification::Off;
}

}  // namespace

std::vector<profiles::UserProfile> user_profiles(const config::Home& home) {
  return profiles::read_own_profiles(home.root + "/profiles");
}

std::string unused_name(const Context& context) {
  SystemRandom random;
  return host::friendly_name(random, agent_names(context));
}

Result<HostSetup> prepare_host(const Context& context, HostRequest request, net::AsioLoop& loop) {
  const auto settings = config::load_settings(context.home, context.environment).value_or(config::Settings{});
  RELAY_TRY(config::check_trusted(context.project.root, context.home, settings, context.environment));
  RELAY_TRY(config::check_trusted(context.project.tree, context.home, settings, context.environment));
  HostSetup setup;
  auto& options = setup.options;
  SystemRandom random;
  const auto used_names = agent_names(context, may_print_notices(request));
  const auto own = user_profiles(context.home);
  options.profile = request.profile.empty() ? RELAY_TRY(profiles::profile_for_program(request.argv.front(), own))
                                            : RELAY_TRY(profiles::find_profile(request.profile, own));
  auto& record = options.record;
  record.id = random.hex(kHostIdBytes);
  record.name = request.name.empty() ? host::friendly_name(random, used_names) : request.name;
  record.cli = fs::path{request.argv.front()}.filename().string();
  record.working_directory = RELAY_TRY(working_directory());
  record.detached = request.detached;
  record.headless = request.streams == pty::Streams::Inherited;
  record.spawned = request.spawned;
  record.spawner = request.spawner;
  record.team = request.team;
  record.model = request.model;
  record.task = std::string{text::truncate_utf8(request.task, kMaxTaskBytes)};
  options.detached = request.detached;
  options.notice = terminal_notification(context);

  setup.outbox = RELAY_TRY(open_named_outbox(context, record.name));
  options.claim_token = setup.outbox.claim_token;
  const auto team = context.project.team + "/" + config::file_name_of(record.name);
  RELAY_TRY(config::make_private_directory(team));
  setup.inbox = RELAY_TRY(DiskDirectory::open(team));
  const auto folder = config::agent_folder(record.name);
  RELAY_TRY(config::make_private_directory(context.project.hosts));
  auto& paths = options.paths;
  paths.workspace_socket = config::socket_to_connect(context.project.socket);
  paths.project_root = context.project.tree;  // an agent may read and write only in its own worktree
  paths.records = context.project.hosts;
  paths.socket =
      RELAY_TRY(config::socket_to_listen(config::host_socket_paths(context.project, context.home, record.id)));
  paths.state_directory = setup.outbox.directory.get();
  paths.intent_file = setup.outbox.file + ".intent";
  paths.inbox = setup.inbox.get();
  paths.long_texts = paths.outgoing = folder;
  paths.long_texts.emplace_back("messages");
  paths.outgoing.emplace_back("outbox");
  auto made = host::AgentFolder::make({.root = context.project.tree,
                                       .names = folder,
                                       .retention = std::chrono::days{settings.retention_max_age_days()}});
  if (made)
    setup.folder.emplace(*std::move(made));
  else if (may_print_notices(request))
    print_notice(format("{}; the agent runs without files for long messages", made.error().message()));

  auto& command = setup.command;
  command.streams = request.streams;
  command.kept_descriptors = std::move(request.kept_descriptors);
  if (!request.detached) command.ignored_signals = pty::signals_ignored_at_start();
  command.argv = std::move(request.argv);
  if (!request.model.empty()) {
    if (options.profile.model_option.empty())
      return fail(format("the profile of {} has no model option; leave --model out", record.cli));
    command.argv.insert(command.argv.begin() + 1, {options.profile.model_option, request.model});
  }
  command.environment = pty::inherited_environment();
  for (const auto variable : {host::kTaskVariable, host::kSpawnerVariable, host::kTeamVariable})
    pty::remove_variable(command.environment, variable);
  pty::set_variable(command.environment, "AGENT_RELAY_NAME", record.name);
  pty::set_variable(command.environment, "AGENT_RELAY_HOST_SOCKET",
                    paths.socket);  // replaces that of an enclosing agent
  pty::set_variable(command.environment, "AGENT_RELAY_PROJECT", context.project.root);
  pty::set_variable(command.environment, "AGENT_RELAY_INBOX", team + "/inbox.md");
  if (setup.folder) pty::set_variable(command.environment, "AGENT_RELAY_OUTBOX", setup.folder->outbox());
  const auto facts = adapters::launch_facts(options.profile.name, command);
  record.version = facts.version;
  record.permission_mode = facts.permission_mode;
  const auto skill = request.instruct ? std::string{host::skill_text()} : std::string{};
  if ((options.adapter = adapters::make_adapter(options.profile.name, loop))) {
    paths.private_file = host::settings_path(context.project.hosts, record.id);
    options.adapter->prepare(command, {.program = RELAY_TRY(self_path()),
                                       .private_file = paths.private_file,
                                       .instructions = skill,
                                       .attended = !request.detached});
  }
  if (request.instruct)
    host::instruct(command, options.profile.instructions, skill, setup.folder ? setup.folder->skill() : "");
  return setup;
}

}  // namespace relay::cli
