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

constexpr Millis kTimeout{3'000};  // for the response of the session that has it

bool is_pending(std::string_view state) { return !is_final_state(state); }

ExitCode run(const Invocation& invocation, Context& context) {
  const auto id = invocation.argument(0);
  auto connection = RELAY_CLI_TRY(join_workspace(context));
  const auto ids = RELAY_CLI_TRY(resolve_deliveries(connection, id, is_pending, "is pending"));
  std::vector<std::string> deliveries;
  std::map<std::string, std::string> stale;  // final already, or cannot be returned: the history shows which
  std::optional<protocol::Nack> refusal;
  for (const auto& delivery : ids) {
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
    outcome = cancel_result_of(trace, deliveries, stale);
    return outcome.is_final();
  });
  if (!watched && !is(watched.error(), Errc::TimedOut)) return report_error(watched.error());
  const auto error = error_text(outcome, id, context.now());
  print(invocation.has("--json") ? json::serialize(as_json(outcome, error)) + "\n" : success_text(outcome, id));
  if (!error.empty()) print_notice(error);
  return exit_code_of(outcome);
}

constexpr Argument kArguments[] = {{.name = "ID", .description = "the id of a message, or of one delivery (d-...)"}};
constexpr Option kOptions[] = {
    {.name = "--reason", .value = "TEXT", .description = "the reason, for the delivery history and the sender"},
    kJsonOption,
};

}  // namespace

const Command kCancel = {
    .name = "cancel",
    .group = Group::Control,
    .usage = "cancel ID",
    .summary = "cancel deliveries that are still pending",
    .arguments = kArguments,
    .options = kOptions,
    .listed = false,
    .example = "agent-relay cancel 7kq2m9xa --reason \"done already\"",
    .details =
        "When the recipient's session already has the delivery, the command requests it back and waits briefly for\n"
        "the response. A delivery that a lost session had written is in doubt: it may have arrived. Exits with 0 when\n"
        "it was cancelled, 1 when it was too late, 4 when the session has not responded yet, 5 when the session\n"
        "cannot return it.",
    .needs_daemon = true,
    .run = run,
};

}  // namespace relay::cli
