/// `agent-relay send TO TEXT`
#include "base/format.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/context.h"
#include "cli/given_text.h"
#include "cli/invocation.h"
#include "cli/own_outbox.h"
#include "cli/people.h"
#include "cli/sending.h"
#include "cli/workspace.h"
#include "protocol/json_scanner.h"
#include "protocol/limits.h"
#include "protocol/names.h"
#include "protocol/utf8.h"

namespace relay::cli {
namespace {

constexpr Millis kDefaultWait{30'000};

ExitCode tell(const Fate& fate, const std::string& to, bool as_json) {
  switch (fate.kind) {
    case Fate::Kind::Refused: return complain(fate.refusal);
    case Fate::Kind::Undelivered: return complain("it was not delivered: " + fate.reason, ExitCode::No);
    case Fate::Kind::NotYet:
      return complain(
          relay::format("{}; it is stored and will be delivered later{}", fate.reason,
                        fate.id.empty() ? "" : relay::format("; see how it fares: agent-relay trace {}", fate.id)),
          fate.code);
    case Fate::Kind::Stored:
    case Fate::Kind::Delivered: break;
  }
  const bool delivered = fate.kind == Fate::Kind::Delivered;
  if (as_json) {
    json::object answer;
    if (!fate.id.empty()) answer["id"] = fate.id;
    answer["to"] = to;
    answer["status"] = delivered ? "delivered" : "accepted";
    if (fate.recipients) answer["recipients"] = *fate.recipients;
    print(json::serialize(answer) + "\n");
  } else {
    const auto whom = to == protocol::kEveryone ? "everyone" : sanitised(to, Lines::Join);
    print(relay::format("{} to {}{}\n", delivered ? "delivered" : "sent", whom,
                        fate.id.empty() ? "" : "  " + sanitised(fate.id, Lines::Join)));
    if (fate.recipients == 0) remark("it is stored, but nobody was there to hear it");
  }
  return ExitCode::Yes;
}

ExitCode run(const Invocation& invocation, Context& context) {
  Letter letter;
  letter.to = invocation.argument(0);
  RELAY_CLI_USAGE(check_recipient(letter.to));
  letter.from = RELAY_CLI_USAGE(speaker(invocation, "--from", context));
  letter.claim_token = kept_claim_token(context, letter.from);
  letter.id = invocation.value("--id").value_or("");
  if (invocation.has("--id") && (letter.id.empty() || letter.id.size() > protocol::kMaxIdBytes ||
                                 protocol::has_control_characters(letter.id) || !protocol::is_utf8(letter.id)))
    return complain(relay::format("--id must be text of 1 to {} bytes", protocol::kMaxIdBytes), ExitCode::Usage);
  letter.kind = invocation.value("--kind").value_or(letter.kind);
  if (const auto mode = invocation.value("--mode")) letter.mode = protocol::delivery_mode_named(*mode);
  letter.topic = invocation.value("--topic").value_or("");
  letter.thread = invocation.value("--thread").value_or("");
  const auto patience = RELAY_CLI_USAGE(invocation.duration("--timeout", kDefaultWait));
  if (invocation.has("--wait")) letter.patience = patience;
  if (letter.patience && (letter.to == protocol::kEveryone || letter.to.starts_with('#')))
    return complain(relay::format("--wait needs one recipient, not {}; leave it out", letter.to), ExitCode::Usage);
  if (invocation.has("--ttl")) letter.ttl = RELAY_CLI_USAGE(invocation.duration("--ttl", Millis{0}));
  if (letter.ttl && (letter.ttl->count() <= 0 || letter.ttl->count() > protocol::kMaxTtlMs))
    return complain("--ttl must be longer than nothing and at most 30d", ExitCode::Usage);
  letter.text = RELAY_CLI_TRY(given_text(invocation.rest(1)));
  if (letter.text.empty()) return complain("the text is empty; say something", ExitCode::Usage);
  if (!protocol::is_utf8(letter.text))
    return complain("the text is not UTF-8; convert it first, for example with iconv", ExitCode::Usage);
  auto connection = RELAY_CLI_TRY(reach_workspace(context));
  const auto fate = RELAY_CLI_TRY(hand_over(connection, letter));
  return tell(fate, letter.to, invocation.has("--json"));
}

constexpr Argument kArguments[] = {
    {.name = "TO", .description = "an agent's name, '*' for everyone, #channel", .completes = Completes::Agents},
    {.name = "TEXT", .arity = Arity::Many, .description = "what to say; - reads it from stdin"},
};
constexpr Option kOptions[] = {
    {.name = "--from", .value = "NAME", .description = "who says it; default $AGENT_RELAY_NAME, $USER or human"},
    {.name = "--wait", .description = "return when it was delivered"},
    {.name = "--timeout", .value = "TIME", .description = "how long --wait waits (default 30s)"},
    {.name = "--mode",
     .value = "MODE",
     .description = "when the agent should see it (default on-idle)",
     .choices = "immediate|next-message|next-tool-call|on-idle|manual"},
    {.name = "--ttl", .value = "TIME", .description = "give up delivering after this time, e.g. 2h"},
    {.name = "--topic", .value = "TOPIC", .description = "what it is about"},
    {.name = "--thread", .value = "ID", .description = "the conversation it belongs to"},
    {.name = "--id", .value = "ID", .description = "your own id: sent again under it, it is stored once"},
    {.name = "--kind",
     .value = "KIND",
     .description = "what it is (default message)",
     .choices = "message|action|state|thinking"},
    kJsonOption,
};

}  // namespace

const Command kSend = {
    .name = "send",
    .group = Group::Everyday,
    .usage = "send TO TEXT",
    .summary = "say TEXT to TO, or to everyone with '*'",
    .hint = "[--wait]",
    .arguments = kArguments,
    .options = kOptions,
    .example = "agent-relay send Bob \"the build is green\" --wait",
    .details =
        "Ends with 0 once the daemon has stored it; with --wait once the recipient has it.\n"
        "Prints the message's id, for `trace` and `read`.\n"
        "--mode: on-idle waits for the end of its turn; immediate interrupts it; next-tool-call and next-message\n"
        "add it to what the agent is given next; manual keeps it until the agent asks. What an agent cannot do\n"
        "waits, and `trace` says why.",
    .run = run,
};

}  // namespace relay::cli
