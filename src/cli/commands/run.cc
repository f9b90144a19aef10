/// `agent-relay [-n NAME] CMD…`
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/format.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/context.h"
#include "cli/failure.h"
#include "cli/invocation.h"
#include "cli/own_outbox.h"
#include "cli/people.h"
#include "cli/workspace.h"
#include "host/friendly_name.h"
#include "host/host.h"
#include "profiles/shelf.h"

namespace relay::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMaxProfileBytes = 256 * 1024;

Result<std::vector<profiles::OwnProfile>> own_profiles(const Context& context) {
  std::vector<profiles::OwnProfile> own;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator{fs::path{context.home.root} / "profiles", none}) {
    if (entry.path().extension() != ".toml" || entry.file_size(none) > kMaxProfileBytes) continue;
    std::ifstream file{entry.path(), std::ios::binary};
    own.push_back({entry.path().string(), {std::istreambuf_iterator<char>{file}, {}}});
  }
  std::ranges::sort(own, {}, &profiles::OwnProfile::path);
  return own;
}

/// Who is known here; nobody when the daemon is away.
std::vector<std::string> known_names(const Context& context) {
  std::vector<std::string> names;
  auto connection = join_workspace(context);
  if (!connection) {
    remark("the daemon is not there; what the agent says is kept until it is: agent-relay up");
    return names;
  }
  const auto payload = connection->ask(protocol::MessageType::ListAgents, R"({"includeIdle":true})");
  const auto answer = payload ? parse_json_object(*payload) : Result<json::object>{json::object{}};
  if (const auto* agents = answer ? array_member(*answer, "agents") : nullptr)
    for (const auto& value : *agents)
      if (const auto* agent = value.if_object()) names.push_back(string_member(*agent, "name").value_or(""));
  return names;
}

ExitCode run(const Invocation& invocation, Context& context) {
  host::HostOptions options;
  const auto taken = known_names(context);
  SystemRandom random;
  options.name = invocation.has("--name") ? RELAY_CLI_USAGE(speaker(invocation, "--name", context))
                                          : host::friendly_name(random, taken);
  for (std::size_t i = 0; i < invocation.argument_count(); ++i) options.command.argv.push_back(invocation.argument(i));
  const auto own = RELAY_CLI_TRY(own_profiles(context));
  const auto wanted = invocation.value("--profile");
  options.profile = wanted ? RELAY_CLI_USAGE(profiles::profile_named(*wanted, own))
                           : RELAY_CLI_TRY(profiles::profile_for(options.command.argv.front(), own));
  options.command.environment = pty::inherited_environment();
  pty::set_variable(options.command.environment, "AGENT_RELAY_NAME", options.name);
  pty::set_variable(options.command.environment, "AGENT_RELAY_PROJECT", context.project.root);
  options.socket_path = config::socket_to_connect(context.project.socket);
  options.project_root = context.project.root;
  const auto outbox = RELAY_CLI_TRY(open_own_outbox(context, options.name));
  options.claim_token = outbox.claim_token;
  options.directory = outbox.directory.get();
  options.intent_file = outbox.file + ".intent";
  net::AsioLoop loop;
  host::Host host{loop, std::move(options), *outbox.outbox};
  const auto code = RELAY_CLI_TRY(host.run());
  if (!host.trouble().empty()) remark(host.trouble());
  return static_cast<ExitCode>(code);
}

constexpr Argument kArguments[] = {{.name = "CMD", .arity = Arity::Many, .description = "the agent and its arguments"}};
constexpr Option kOptions[] = {
    {.name = "--name", .value = "NAME", .description = "the agent's name (also -n); default: a friendly one"},
    {.name = "--profile", .value = "NAME", .description = "how to read its screen; default: by the program's name"},
};

}  // namespace

const Command kRun = {
    .name = "run",
    .group = Group::Everyday,
    .usage = "run [-n NAME] CMD",
    .summary = "run an agent that others can talk to",
    .arguments = kArguments,
    .options = kOptions,
    .example = "agent-relay -n Alice claude",
    .details =
        "The agent looks and feels as without us. When it writes `@relay:Bob hello` at the start of a line, Bob\n"
        "gets the message once its turn is over; what others say to it is typed when it is idle and nobody is\n"
        "typing, never into a dialog. `agent-relay skill` prints what to tell it. Ends as the agent ends.",
    .takes_rest = true,
    .run = run,
};

}  // namespace relay::cli
