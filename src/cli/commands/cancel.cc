/// `agent-relay cancel ID`
#include "base/format.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/context.h"
#include "cli/invocation.h"
#include "cli/steering.h"
#include "cli/timeline.h"
#include "cli/workspace.h"

namespace relay::cli {
namespace {

bool still_waits(std::string_view state) { return !has_ended(state); }

ExitCode run(const Invocation& invocation, Context& context) {
  const auto id = invocation.argument(0);
  auto connection = RELAY_CLI_TRY(join_workspace(context));
  const auto deliveries = RELAY_CLI_TRY(deliveries_meant(connection, id, still_waits, "waits any more"));
  json::array cancelled;
  std::optional<protocol::NackView> refusal;
  for (const auto& delivery : deliveries) {
    json::object order = {{"action", "cancel"}, {"deliveryId", delivery}};
    if (const auto reason = invocation.value("--reason")) order["reason"] = *reason;
    const auto done = RELAY_CLI_TRY(steer(connection, order));
    if (done.refusal)
      refusal = done.refusal;  // one may have arrived meanwhile; the others need not
    else
      cancelled.emplace_back(delivery);
  }
  if (cancelled.empty() && refusal) return complain(*refusal);
  if (refusal) remark(refusal->message);
  if (invocation.has("--json"))
    print(json::serialize(json::object{{"cancelled", cancelled}}) + "\n");
  else
    print(relay::format("{} cancelled{}\n", sanitised(id, Lines::Join),
                        cancelled.size() == 1 ? "" : relay::format(", for {} recipients", cancelled.size())));
  return ExitCode::Yes;
}

constexpr Argument kArguments[] = {{.name = "ID", .description = "a message's id, or one delivery's (d-…)"}};
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
    .details = "What has reached the agent cannot be taken back; then it says so and ends with 1 or 5.",
    .run = run,
};

}  // namespace relay::cli
