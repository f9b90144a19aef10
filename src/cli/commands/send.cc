/// `agent-relay send TO TEXT`
#include "base/format.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/framework/context.h"
#include "cli/framework/interrupts.h"
#include "cli/framework/invocation.h"
#include "cli/render/send_progress.h"
#include "cli/render/times.h"
#include "cli/send/attachments.h"
#include "cli/send/duplicate.h"
#include "cli/send/send_request.h"
#include "cli/send/text_argument.h"
#include "cli/wire/message.h"
#include "cli/wire/named_outbox.h"
#include "cli/wire/names.h"
#include "cli/wire/workspace.h"
#include "protocol/limits.h"
#include "protocol/names.h"
#include "text/iso_time.h"
#include "text/json_scanner.h"
#include "text/utf8.h"

namespace relay::cli {
namespace {

constexpr Millis kDefaultWait{30'000};
constexpr Millis kDefaultAsk{5 * 60'000};

/// The requested proof, as printed: `delivered to Bob`, `accepted by Bob`, `seen by Bob`.
std::string_view name_of(WaitFor until) {
  switch (until) {
    case WaitFor::Stored: return "sent";
    case WaitFor::Accepted: return "accepted";
    case WaitFor::Delivered: return "delivered";
    case WaitFor::Seen: return "seen";
    case WaitFor::Answered: return "answered";
  }
  return "";
}

WaitFor parse_wait(std::string_view word) {
  return word == "accepted" ? WaitFor::Accepted : word == "seen" ? WaitFor::Seen : WaitFor::Delivered;
}

/// On a timeout, an interrupt or a lost daemon: the progress so far.
ExitCode print_timeout(const SendResult& result, const SendRequest& request, const Context& context) {
  const auto error = result.reason.empty()
                         ? relay::format("not {} within {}", name_of(request.until), short_duration(request.timeout))
                         : result.reason;
  return report_error(
      relay::format("{}: {}{}", error,
                    progress_summary(result, request.to, host_runs(context, result, request.to), context.now()),
                    result.id.empty() ? "" : relay::format("; see: agent-relay trace {}", result.id)),
      result.code);
}

/// The requested proof, else the state of the delivery: a value of `status` in `log --json`.
std::string_view reached_status(const SendResult& result, const SendRequest& request) {
  if (request.until != WaitFor::Stored) return name_of(request.until);
  if (result.recipients == 0) return "stored";
  return result.state.empty() ? std::string_view{"queued"} : result.state;
}

json::object as_json(const SendResult& result, const SendRequest& request) {
  json::object answer;
  if (!result.id.empty()) answer["id"] = result.id;
  answer["to"] = request.to;
  answer["status"] = reached_status(result, request);
  if (result.duplicate) answer["duplicate"] = true;
  if (result.recipients) answer["recipients"] = *result.recipients;
  if (result.offline_since > 0) answer["offlineSince"] = result.offline_since;
  if (!result.pending_reason.empty()) answer["pendingReason"] = result.pending_reason;
  if (request.until == WaitFor::Answered) {
    answer["answer"] = result.answer;
    if (!result.answer_id.empty()) answer["answerId"] = result.answer_id;
    if (!result.matched_by.empty()) answer["matchedBy"] = result.matched_by;
  } else if (!result.steps.empty()) {
    const auto& last = result.steps.back();
    if (!last.proof.empty()) answer["proof"] = last.proof;
    if (!last.via.empty()) answer["via"] = last.via;
    if (!last.evidence.empty()) answer["evidence"] = last.evidence;
  }
  return answer;
}

/// The message is stored and has no recipient.
std::string no_recipient_notice(const SendRequest& request) {
  if (!request.to.starts_with('#')) return "stored, but there is no recipient";
  return relay::format(
      "stored, but there is no recipient: {} has no other member; join it with: agent-relay channels join '{}'",
      request.to, request.to);
}

/// The message is sent, but the session can never give the requested proof.
ExitCode print_unprovable(const SendResult& result, const SendRequest& request) {
  return report_error(relay::format("the session of {} cannot prove that a message was seen, only {}; the message is "
                                    "sent; wait with --wait {}, or see: agent-relay trace {}",
                                    sanitize(request.to, Lines::Join), result.proves,
                                    result.proves == "accepted" ? "accepted" : "delivered", result.id),
                      ExitCode::Refused);
}

ExitCode print_result(const SendResult& result, const SendRequest& request, bool json_wanted, const Context& context) {
  switch (result.kind) {
    case SendResult::Kind::Refused: return report_error(result.refusal);
    case SendResult::Kind::Failed: return report_error("not delivered: " + result.reason, ExitCode::Failed);
    case SendResult::Kind::TimedOut: return print_timeout(result, request, context);
    case SendResult::Kind::Unprovable: return print_unprovable(result, request);
    case SendResult::Kind::Duplicate:
    case SendResult::Kind::Reached: break;
  }
  if (json_wanted) {
    print(json::serialize(as_json(result, request)) + "\n");
  } else if (request.until == WaitFor::Answered) {
    print(sanitize(result.answer, Lines::Keep) + (result.answer.ends_with('\n') ? "" : "\n"));
  } else {
    const auto recipient = request.to == protocol::kEveryone ? "everyone" : sanitize(request.to, Lines::Join);
    const bool by = request.until == WaitFor::Accepted || request.until == WaitFor::Seen;
    print(relay::format("{} {} {}{}\n", name_of(request.until), by ? "by" : "to", recipient,
                        result.id.empty() ? "" : "  " + sanitize(result.id, Lines::Join)));
    if (result.recipients == 0) print_notice(no_recipient_notice(request));
    if (const auto queued = queued_text(result, request.to, host_runs(context, result, request.to), context.now());
        !queued.empty() && request.until == WaitFor::Stored)
      print_notice(queued);
  }
  return ExitCode::Ok;
}

/// A duration from now, or a time with its zone.
Result<WallMs> parse_deadline(const std::string& text, WallMs now) {
  if (const auto time = text::parse_iso_time(text)) {
    if (*time > now) return *time;
    return fail(relay::format("--deadline cannot be \"{}\": that time is in the past", text));
  }
  const auto length = parse_duration(text);
  if (length && length->count() > 0) return now + length->count();
  return fail(relay::format("--deadline cannot be \"{}\": give a duration such as 20m, or a time such as {}", text,
                            text::format_iso_time(now + 3'600'000)));
}

/// The request without its text. Every error is a usage error.
Result<SendRequest> parse_request(const Invocation& invocation, const Context& context) {
  SendRequest request;
  request.to = invocation.argument(0);
  RELAY_TRY(check_recipient(request.to));
  request.from = RELAY_TRY(sender_name(invocation, "--from", context));
  request.claim_token = sender_token(context, request.from);
  request.id = invocation.value("--id").value_or("");
  if (invocation.has("--id") && (request.id.empty() || request.id.size() > protocol::kMaxIdBytes ||
                                 text::has_control_characters(request.id) || !text::is_utf8(request.id)))
    return fail(relay::format("--id must be a string of 1 to {} bytes", protocol::kMaxIdBytes));
  request.kind = invocation.value("--kind").value_or(request.kind);
  if (const auto mode = invocation.value("--mode")) request.mode = protocol::parse_delivery_mode(*mode);
  request.urgent = invocation.has("--urgent");
  request.topic = invocation.value("--topic").value_or("");
  request.thread = invocation.value("--thread").value_or("");
  if (const auto id = invocation.value("--reply-to")) {
    RELAY_TRY(check_message_id(*id));
    request.reply_to = *id;
  }
  if (const auto deadline = invocation.value("--deadline"))
    request.deadline = RELAY_TRY(parse_deadline(*deadline, context.now()));
  if (invocation.has("--ttl")) request.ttl = RELAY_TRY(invocation.duration("--ttl", Millis{0}));
  if (request.ttl && (request.ttl->count() <= 0 || request.ttl->count() > protocol::kMaxTtlMs))
    return fail("--ttl must be more than 0 and at most 30d");
  if (const auto wait = invocation.value("--wait")) request.until = parse_wait(*wait);
  if (invocation.has("--ask")) {
    if (invocation.has("--wait")) return fail("--ask waits for the answer; leave --wait out");
    request.until = WaitFor::Answered;
  }
  request.timeout =
      RELAY_TRY(invocation.duration("--timeout", request.until == WaitFor::Answered ? kDefaultAsk : kDefaultWait));
  if (request.until != WaitFor::Stored && (request.to == protocol::kEveryone || request.to.starts_with('#')))
    return fail(relay::format("{} needs one recipient, not {}; leave it out",
                              request.until == WaitFor::Answered ? "--ask" : "--wait", request.to));
  return request;
}

ExitCode run(const Invocation& invocation, Context& context) {
  auto request = RELAY_CLI_USAGE(parse_request(invocation, context));
  request.text = RELAY_CLI_TRY(read_text_argument(invocation.rest(1)));
  if (request.text.empty()) return report_error("the text is empty", ExitCode::Usage);
  if (!text::is_utf8(request.text))
    return report_error("the text is not UTF-8; convert it first, for example with iconv", ExitCode::Usage);
  auto connection = RELAY_CLI_TRY(connect_workspace(context));
  const auto& root = context.project.common ? context.project.directory : context.project.tree;
  request.attachments = RELAY_CLI_TRY(copy_attachments(root, invocation.values("--attach")));
  ProgressLine progress{context, request.to};
  const auto on_progress = [&](const SendResult& result) {
    progress.show(result);
    if (result.steps.empty() && result.offline_since > 0 && !progress.is_live() && !invocation.has("--json"))
      print_notice(queued_text(result, request.to, host_runs(context, result, request.to), context.now()));
  };
  const Interrupts interrupts;
  connection.watch_interrupts(interrupts.fd());
  auto result = send(connection, request, on_progress);
  if (result && result->kind == SendResult::Kind::Duplicate)
    result = result_of_duplicate(context, request, *std::move(result), on_progress, interrupts.fd());
  progress.clear();
  if (!result) return report_error(result.error());
  return print_result(*result, request, invocation.has("--json"), context);
}

constexpr Argument kArguments[] = {
    {.name = "TO",
     .description = "an agent's name, '*' for every agent, or '#channel'",
     .completes = CompletionKind::Recipients},
    {.name = "TEXT", .arity = Arity::Many, .description = "the text; - reads it from stdin", .is_text = true},
};
constexpr Option kOptions[] = {
    {.name = "--from", .value = "NAME", .description = "the sender; default $AGENT_RELAY_NAME, $USER or human"},
    {.name = "--wait",
     .value = "PROOF",
     .description = "wait until it is accepted, delivered or seen; without a value: delivered",
     .choices = "accepted|delivered|seen",
     .implicit_value = "delivered",
     .wrong_values = "stored|queued|written|submitted|read|answered"},
    {.name = "--ask", .description = "wait for the answer and print it"},
    {.name = "--timeout", .value = "TIME", .description = "how long --wait (default 30s) or --ask (5m) waits"},
    {.name = "--mode",
     .value = "MODE",
     .description = "when to deliver it (default on-idle)",
     .choices = "immediate|next-message|next-tool-call|on-idle|manual"},
    {.name = "--urgent", .description = "deliver it before messages that are not urgent"},
    {.name = "--deadline", .value = "TIME", .description = "let it expire at this time: 20m, or 2026-03-01T12:00:00Z"},
    {.name = "--ttl", .value = "TIME", .description = "let it expire after this time, for example 2h"},
    {.name = "--attach",
     .value = "FILE",
     .description = "attach FILE, up to 16 MB; may be given 16 times",
     .repeats = true,
     .completes = CompletionKind::Files},
    {.name = "--reply-to", .value = "ID", .description = "the message it answers"},
    {.name = "--topic", .value = "TOPIC", .description = "its topic"},
    {.name = "--thread", .value = "ID", .description = "the conversation it belongs to"},
    {.name = "--id", .value = "ID", .description = "your own id for it; sent again under this id, it is stored once"},
    {.name = "--kind",
     .value = "KIND",
     .description = "its kind (default message)",
     .choices = "message|action|state|thinking"},
    kJsonOption,
};

}  // namespace

const Command kSend = {
    .name = "send",
    .group = Group::Everyday,
    .usage = "send TO TEXT",
    .summary = "send TEXT to TO, or to every agent with '*'",
    .hint = "[--wait|--ask]",
    .arguments = kArguments,
    .options = kOptions,
    .example = "agent-relay send Bob \"the build is green\" --wait",
    .details =
        "Exits with 0 once the daemon has stored the message; with --wait, once the recipient's side has proved more:\n"
        "accepted (its session has the message), delivered (its agent or program took it), seen (the agent's\n"
        "transcript shows it). Exit code 4 on a timeout, with the progress so far; 5 at once for a proof that the\n"
        "recipient's session cannot give. --ask waits for a message that replies to this one, for the next message in\n"
        "its thread, or, while this is your only request to TO, for TO's next plain message, and prints it. Prints\n"
        "the id of the message, for `trace` and `read`; --json has the state of the delivery, or the requested\n"
        "proof, as `status`; `stored` when there is no recipient.\n"
        "A message sent again under the same --id is stored once: the command reports, or waits for, the result of\n"
        "the first.\n"
        "--mode: on-idle waits for the end of the agent's turn; immediate delivers at once, and interrupts a\n"
        "running turn if the agent has no better interface; next-tool-call and next-message add the message to the\n"
        "agent's next input; manual holds it until the agent fetches it, or `flush`. A mode that the agent does not\n"
        "support keeps the message pending; `trace` shows the reason. An agent gets the text as one line; send code\n"
        "or a diff with --attach.",
    .needs_daemon = true,
    .run = run,
};

}  // namespace relay::cli
