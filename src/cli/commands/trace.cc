/// `agent-relay trace ID`: the ledger of one message.
#include "base/format.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/context.h"
#include "cli/invocation.h"
#include "cli/message.h"
#include "cli/times.h"
#include "cli/workspace.h"

namespace relay::cli {
namespace {

Colour colour_of(std::string_view state) {
  if (state == "delivered") return Colour::Green;
  if (state == "failed" || state == "dead" || state == "expired") return Colour::Red;
  if (state == "in_doubt" || state == "deferred") return Colour::Yellow;
  return Colour::Plain;
}

WallMs time_of(const json::object& entry) { return static_cast<WallMs>(number_member(entry, "at").value_or(0)); }

std::string event_line(const json::object& event, WallMs begin, const Paint& paint) {
  const auto at = time_of(event);
  const auto state = sanitised(string_member(event, "state").value_or("?"), Lines::Join);
  const auto proof = sanitised(string_member(event, "proof").value_or(""), Lines::Join);
  const auto reason = sanitised(string_member(event, "reason").value_or(""), Lines::Join);
  auto line = relay::format("  {}  {:>8}  {}  {}", exact_time(at), relay::format("+{} ms", at - begin),
                            paint(colour_of(state), relay::format("{:<10}", state)),
                            proof.empty() ? "" : relay::format("proof: {:<10}", proof));
  if (!reason.empty()) line += relay::format("  {}", reason);
  while (line.ends_with(' ')) line.pop_back();
  return line + "\n";
}

std::string ledger(const json::object& answer, const Context& context) {
  std::string text;
  WallMs begin = 0;
  if (const auto* raw = object_member(answer, "message")) {
    const auto message = message_from(*raw);
    begin = message.timestamp;
    text += message_line(message, context);
  }
  const auto* deliveries = array_member(answer, "deliveries");
  if (deliveries == nullptr || deliveries->empty()) return text + "\n  stored; it was addressed to nobody\n";
  for (const auto& value : *deliveries) {
    const auto* delivery = value.if_object();
    if (delivery == nullptr) continue;
    text += relay::format(
        "\nto {}  {}  seq {}\n",
        context.paint.name(sanitised(string_member(*delivery, "to").value_or("?"), Lines::Join)),
        context.paint(Colour::Dim, sanitised(string_member(*delivery, "deliveryId").value_or(""), Lines::Join)),
        integer_member(*delivery, "seq").value_or(0));
    const auto* history = array_member(*delivery, "history");
    for (const auto& event : history != nullptr ? *history : json::array{})
      if (const auto* entry = event.if_object()) text += event_line(*entry, begin, context.paint);
  }
  return text;
}

ExitCode run(const Invocation& invocation, Context& context) {
  const auto id = invocation.argument(0);
  RELAY_CLI_USAGE(check_id_given(id));
  auto connection = RELAY_CLI_TRY(join_workspace(context));
  const auto payload =
      RELAY_CLI_TRY(connection.ask(protocol::MessageType::Trace, json::serialize(json::object{{"id", id}})));
  const auto answer = RELAY_CLI_TRY(parse_json_object(payload));
  if (const auto error = string_member(answer, "error")) return complain(*error, ExitCode::No);
  print(invocation.has("--json") ? json::serialize(answer) + "\n" : ledger(answer, context));
  return ExitCode::Yes;
}

constexpr Argument kArguments[] = {{.name = "ID", .description = "a message's id, or its first letters (at least 4)"}};
constexpr Option kOptions[] = {kJsonOption};

}  // namespace

const Command kTrace = {
    .name = "trace",
    .group = Group::Knowing,
    .usage = "trace ID",
    .summary = "what happened to a message",
    .hint = "[--json]",
    .arguments = kArguments,
    .options = kOptions,
    .example = "agent-relay trace 7kq2m9xa",
    .details = "Each line is a change of its state, the time it took, and the evidence held for it.",
    .run = run,
};

}  // namespace relay::cli
