/// `agent-relay attach NAME`
#include "cli/agent/attach.h"

#include "base/format.h"
#include "cli/commands/commands.h"
#include "cli/framework/context.h"
#include "cli/framework/failure.h"
#include "cli/framework/invocation.h"
#include "cli/wire/host_connection.h"

namespace relay::cli {
namespace {

ExitCode print_screen(const host::HostRecord& record, bool json) {
  auto host = RELAY_CLI_TRY(HostConnection::open(record));
  const auto answer = RELAY_CLI_TRY(host.request({{"method", "screen"}, {"format", "text"}}));
  print(json ? relay::json::serialize(answer) + "\n"
             : sanitize(string_member(answer, "screen").value_or(""), Lines::Keep));
  return ExitCode::Ok;
}

ExitCode run(const Invocation& invocation, Context& context) {
  const auto record = RELAY_CLI_TRY(find_host(context, invocation.argument(0), {.done = "attached to"}));
  if (invocation.has("--print") || invocation.has("--json")) return print_screen(record, invocation.has("--json"));
  const auto attached =
      RELAY_CLI_TRY(attach_to(record, invocation.has("--view") ? AttachMode::View : AttachMode::Drive));
  if (attached.end == AttachEnd::AgentExited)
    print_notice(relay::format("{} exited with code {}", record.name, attached.code));
  else
    print_notice(relay::format("detached from {}; it keeps running", record.name));
  return ExitCode::Ok;
}

constexpr Argument kArguments[] = {
    {.name = "NAME", .description = "the agent", .completes = CompletionKind::Hosts},
};
constexpr Option kOptions[] = {
    {.name = "--view", .description = "only watch; nothing you type reaches the agent"},
    {.name = "--print", .description = "print the screen once and exit"},
    {.name = "--json", .description = "the same, as JSON"},
};

}  // namespace

const Command kAttach = {
    .name = "attach",
    .group = Group::Agents,
    .usage = "attach NAME",
    .summary = "show an agent's screen, and type into it",
    .hint = "[--view]",
    .arguments = kArguments,
    .options = kOptions,
    .example = "agent-relay attach Bob --view",
    .details =
        "Shows the screen as it is and then live, on any terminal. Leave with Ctrl-] (with --view, also q or\n"
        "Ctrl-C); the agent keeps running. While you type, messages to the agent stay pending. An agent without its\n"
        "own terminal takes the size of yours, except with --view.",
    .run = run,
};

}  // namespace relay::cli
