/// `agent-relay hook AGENT`
#include "cli/agent/hook.h"

#include "cli/commands/commands.h"
#include "cli/framework/invocation.h"

namespace relay::cli {
namespace {

/// run_program calls run_hook directly; this is reached only through the command table.
ExitCode run(const Invocation& invocation, Context&) { return static_cast<ExitCode>(run_hook(invocation.argument(0))); }

constexpr Argument kArguments[] = {{.name = "AGENT", .description = "claude, codex or gemini"}};

}  // namespace

const Command kHook = {
    .name = "hook",
    .group = Group::Plumbing,
    .usage = "hook AGENT",
    .summary = "run by an agent's hooks, with their JSON on stdin",
    .arguments = kArguments,
    .example = "agent-relay hook claude < payload.json",
    .details =
        "Records the event in $RELAY_HOME/events (default ~/.relay/events) with secrets redacted, passes it to the\n"
        "agent's host, and prints the host's response in the format of that agent. It never fails: no error in it\n"
        "stops the agent.",
    .run = run,
};

}  // namespace relay::cli
