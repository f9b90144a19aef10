/// `agent-relay pause NAME`, `unpause NAME`
#include "base/format.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/framework/context.h"
#include "cli/framework/invocation.h"
#include "cli/wire/control_request.h"
#include "cli/wire/workspace.h"

namespace relay::cli {
namespace {

ExitCode change(const Invocation& invocation, Context& context, bool pause) {
  const auto name = invocation.argument(0);
  json::object request = {{"action", pause ? "pause" : "unpause"}, {"agent", name}};
  if (const auto reason = invocation.value("--reason")) request["reason"] = *reason;
  auto connection = RELAY_CLI_TRY(join_workspace(context));
  const auto done = RELAY_CLI_TRY(send_control(connection, request));
  if (done.refusal) return report_error(*done.refusal);
  const bool changed = done.count() > 0;
  if (invocation.has("--json")) {
    print(json::serialize(json::object{{"name", name}, {"paused", pause}, {"changed", changed}}) + "\n");
    return ExitCode::Ok;
  }
  const auto agent = sanitize(name, Lines::Join);
  if (!changed)
    print_notice(pause ? relay::format("{} is already paused; resume with: agent-relay unpause {}", agent, agent)
                       : relay::format("{} is not paused", agent));
  else
    print_wrapped(
        pause ? relay::format("{} is paused; messages to it are held until: agent-relay unpause {}\n", agent, agent)
              : relay::format("{} receives messages again\n", agent));
  return ExitCode::Ok;
}

ExitCode run_pause(const Invocation& invocation, Context& context) { return change(invocation, context, true); }
ExitCode run_unpause(const Invocation& invocation, Context& context) { return change(invocation, context, false); }

constexpr Argument kArguments[] = {{.name = "NAME", .description = "the agent", .completes = CompletionKind::Agents}};
constexpr Option kPauseOptions[] = {
    {.name = "--reason", .value = "TEXT", .description = "the reason, listed with the pending messages"},
    kJsonOption,
};
constexpr Option kUnpauseOptions[] = {kJsonOption};

}  // namespace

const Command kPause = {
    .name = "pause",
    .group = Group::Agents,
    .usage = "pause NAME",
    .summary = "hold messages to an agent",
    .hint = "[--reason]",
    .arguments = kArguments,
    .options = kPauseOptions,
    .example = "agent-relay pause Bob --reason \"I am in the middle of something\"",
    .details =
        "Nothing reaches the agent until `unpause`; messages to it are accepted, stored and held. The pause survives\n"
        "a restart of the agent or the daemon. A message that the agent already has is not recalled.\n"
        "An agent may pause itself and the agents it spawned; you may pause any.",
    .needs_daemon = true,
    .run = run_pause,
};

const Command kUnpause = {
    .name = "unpause",
    .group = Group::Agents,
    .usage = "unpause NAME",
    .summary = "resume delivery to an agent, held messages first",
    .arguments = kArguments,
    .options = kUnpauseOptions,
    .listed = false,
    .example = "agent-relay unpause Bob",
    .needs_daemon = true,
    .run = run_unpause,
};

}  // namespace relay::cli
