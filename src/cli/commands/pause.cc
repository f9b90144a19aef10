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
  json::object order = {{"action", pause ? "pause" : "unpause"}, {"agent", name}};
  if (const auto reason = invocation.value("--reason")) order["reason"] = *reason;
  auto connection = RELAY_CLI_TRY(join_workspace(context));
  const auto done = RELAY_CLI_TRY(send_control(connection, order));
  if (done.refusal) return report_error(*done.refusal);
  const bool changed = done.count() > 0;
  if (invocation.has("--json")) {
    print(json::serialize(json::object{{"name", name}, {"paused", pause}, {"changed", changed}}) + "\n");
    return ExitCode::Ok;
  }
  const auto shown = sanitize(name, Lines::Join);
  if (!changed)
    print_notice(pause ? relay::format("{} is paused already; let it go on with: agent-relay unpause {}", shown, shown)
                       : relay::format("{} was not paused", shown));
  else
    print_sentence(
        pause ? relay::format("{} is paused: what is sent to it waits, until: agent-relay unpause {}\n", shown, shown)
              : relay::format("{} takes messages again\n", shown));
  return ExitCode::Ok;
}

ExitCode run_pause(const Invocation& invocation, Context& context) { return change(invocation, context, true); }
ExitCode run_unpause(const Invocation& invocation, Context& context) { return change(invocation, context, false); }

constexpr Argument kArguments[] = {{.name = "NAME", .description = "the agent", .completes = CompletionKind::Agents}};
constexpr Option kPauseOptions[] = {
    {.name = "--reason", .value = "TEXT", .description = "why; shown to whoever asks what waits"},
    kJsonOption,
};
constexpr Option kUnpauseOptions[] = {kJsonOption};

}  // namespace

const Command kPause = {
    .name = "pause",
    .group = Group::Steering,
    .usage = "pause NAME",
    .summary = "hold what is sent to an agent",
    .hint = "[--reason]",
    .arguments = kArguments,
    .options = kPauseOptions,
    .example = "agent-relay pause Bob --reason \"I am in the middle of something\"",
    .details =
        "Nothing reaches the agent until `unpause`; messages are taken, stored and wait. It stays so when the agent "
        "or\n"
        "the daemon is started anew. What the agent has been given already is not taken back.\n"
        "An agent pauses itself and those it started; everything else is the user's.",
    .needs_daemon = true,
    .run = run_pause,
};

const Command kUnpause = {
    .name = "unpause",
    .group = Group::Steering,
    .usage = "unpause NAME",
    .summary = "let it go on, with what has waited",
    .arguments = kArguments,
    .options = kUnpauseOptions,
    .example = "agent-relay unpause Bob",
    .needs_daemon = true,
    .run = run_unpause,
};

}  // namespace relay::cli
