/// `agent-relay loops`: pairs of agents that the loop breaker stopped.
#include "base/format.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/framework/context.h"
#include "cli/framework/invocation.h"
#include "cli/render/times.h"
#include "cli/wire/control_request.h"
#include "cli/wire/json_fields.h"
#include "cli/wire/workspace.h"

namespace relay::cli {
namespace {

ExitCode list(DaemonConnection& connection, bool as_json, const Context& context) {
  const auto payload = RELAY_CLI_TRY(connection.request(protocol::MessageType::Loops, "{}"));
  const auto answer = RELAY_CLI_TRY(parse_json_object(payload));
  if (as_json) {
    print(json::serialize(answer) + "\n");
    return ExitCode::Ok;
  }
  const auto breakers = objects_in(answer, "breakers");
  if (breakers.empty()) {
    print_notice("no pairs are stopped");
    return ExitCode::Ok;
  }
  for (const auto* breaker : breakers) {
    const auto until = time_in(*breaker, "until");
    print_wrapped(relay::format(
        "{} {} {}  stopped {}{}; {} refused\n", context.paint.name(display_field(*breaker, "from")), marks().arrow,
        context.paint.name(display_field(*breaker, "to")), short_time(time_in(*breaker, "at"), context.now()),
        until > 0 ? relay::format(", until {}", short_time(until, context.now())) : "",
        message_count(integer_member(*breaker, "refused").value_or(0))));
    for (const auto& line : wrap(display_field(*breaker, "reason"), context.columns - 4))
      print(relay::format("    {}\n", context.paint(Color::Dim, line)));
  }
  print_notice("reset with: agent-relay loops reset [FROM TO]");
  return ExitCode::Ok;
}

ExitCode reset(DaemonConnection& connection, const Invocation& invocation) {
  json::object request = {{"action", "reset-loop"}};
  if (invocation.argument_count() == 3) {
    request["from"] = invocation.argument(1);
    request["to"] = invocation.argument(2);
  }
  const auto done = RELAY_CLI_TRY(send_control(connection, request));
  if (done.refusal) return report_error(*done.refusal);
  if (invocation.has("--json"))
    print(json::serialize(json::object{{"count", done.count()}}) + "\n");
  else if (done.count() == 0)
    print_notice("no such pair is stopped");
  else
    print_wrapped(done.count() == 1 ? "reset 1 pair\n" : relay::format("reset {} pairs\n", done.count()));
  return ExitCode::Ok;
}

ExitCode run(const Invocation& invocation, Context& context) {
  const auto verb = invocation.argument(0);
  const bool resets = verb == "reset";
  if (!verb.empty() && !resets)
    return report_error(relay::format("unknown verb '{}': choose reset, or leave it out", sanitize(verb, Lines::Join)),
                        ExitCode::Usage);
  if (resets && invocation.argument_count() == 2)
    return report_error("loops reset needs both names: agent-relay loops reset Alice Bob", ExitCode::Usage);
  auto connection = RELAY_CLI_TRY(join_workspace(context));
  return resets ? reset(connection, invocation) : list(connection, invocation.has("--json"), context);
}

constexpr Argument kArguments[] = {
    {.name = "[VERB]",
     .arity = Arity::Optional,
     .description = "reset; default: list the stopped pairs and the reasons",
     .choices = "reset"},
    {.name = "[FROM]",
     .arity = Arity::Optional,
     .description = "reset: only this pair",
     .completes = CompletionKind::Agents},
    {.name = "[TO]",
     .arity = Arity::Optional,
     .description = "reset: only this pair",
     .completes = CompletionKind::Agents},
};
constexpr Option kOptions[] = {kJsonOption};

}  // namespace

const Command kLoops = {
    .name = "loops",
    .group = Group::Control,
    .usage = "loops [VERB] [FROM TO]",
    .summary = "list and reset agents stopped for looping",
    .arguments = kArguments,
    .options = kOptions,
    .listed = false,
    .example = "agent-relay loops reset Alice Bob",
    .details =
        "Until the stop of a pair expires or is reset, messages from FROM to TO are refused with LOOP and the reason.",
    .needs_daemon = true,
    .run = run,
};

}  // namespace relay::cli
