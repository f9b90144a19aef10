/// `agent-relay cancel ID`
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/framework/context.h"
#include "cli/framework/invocation.h"
#include "cli/render/cancel_result.h"
#include "cli/render/timeline.h"
#include "cli/wire/control_request.h"
#include "cli/wire/trace_watch.h"
#include "cli/wire/workspace.h"

namespace relay::cli {
namespace {

constexpr Millis kTimeout{3'000};  // for the session that has it

bool still_waits(std::string_view state) { return !is_final_state(state); }

ExitCode run(const Invocation& invocation, Context& context) {
  const auto id = invocation.argument(0);
  auto connection = RELAY_CLI_TRY(join_workspace(context));
  const auto meant = RELAY_CLI_TRY(resolve_deliveries(connection, id, still_waits, "waits any more"));
  std::vector<std::string> deliveries;
  std::map<std::string, std::string> stale;  // it has ended, or cannot be given back: its ledger tells which
  std::optional<protocol::Nack> refusal;
  for (const auto& delivery : meant) {
    json::object order = {{"action", "cancel"}, {"deliveryId", delivery}};
    if (const auto reason = invocation.value("--reason")) order["reason"] = *reason;
    const auto done = RELAY_CLI_TRY(send_control(connection, order));
    const bool is_stale = done.refusal && done.refusal->code == name_of(protocol::NackCode::Stale);
    if (is_stale) stale[delivery] = done.refusal->message;
    if (done.refusal && !is_stale)
      refusal = done.refusal;
    else
      deliveries.push_back(delivery);
  }
  if (deliveries.empty() && refusal) return report_error(*refusal);
  if (refusal) print_notice(refusal->message);
  CancelResult outcome;
  const auto watched = watch_trace(connection, id, in(kTimeout), [&](const json::object& trace) {
    outcome = cancelling_of(trace, deliveries, stale);
    return outcome.settled();
  });
  if (!watched && !is(watched.error(), Errc::TimedOut)) return report_error(watched.error());
  const auto trouble = error_with(outcome, id, context.now());
  print(invocation.has("--json") ? json::serialize(as_json(outcome, trouble)) + "\n" : success_of(outcome, id));
  if (!trouble.empty()) print_notice(trouble);
  return ending_of(outcome);
}

constexpr Argument kArguments[] = {{.name = "ID", .description = "a message's id, or one delivery's (d-...)"}};
constexpr Option kOptions[] = {
    {.name = "--reason", .value = "TEXT", .description = "why, for its ledger and its sender"},
    kJsonOption,
};

}  // namespace

const Command kCancel = {
    .name = "cancel",
    .group = Group::More,
    .usage = "cancel ID",
    .summary = "do not deliver what still waits",
    .arguments = kArguments,
    .options = kOptions,
    .example = "agent-relay cancel 7kq2m9xa --reason \"done already\"",
    .details =
        "What its agent's session has in hand is asked back, and waited for a moment. Ends with 0 when it was\n"
        "cancelled, 1 when it was too late, 4 when the session has not answered yet, 5 when it never can.",
    .needs_daemon = true,
    .run = run,
};

}  // namespace relay::cli
