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

/// The proof waited for, as printed: `delivered to Bob`, `accepted by Bob`, `seen by Bob`.
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

WaitFor until_of(std::string_view word) {
  return word == "accepted" ? WaitFor::Accepted : word == "seen" ? WaitFor::Seen : WaitFor::Delivered;
}

/// On a timeout, an interrupt or a lost daemon: the progress, as far as it is known.
ExitCode print_not_yet(const SendResult& fate, const SendRequest& letter, const Context& context) {
  const auto what = fate.reason.empty()
                        ? relay::format("not {} within {}", name_of(letter.until), short_duration(letter.timeout))
                        : fate.reason;
  return report_error(
      relay::format("{}: {}{}", what,
                    progress_summary(fate, letter.to, host_runs(context, fate, letter.to), context.now()),
                    fate.id.empty() ? "" : relay::format("; see: agent-relay trace {}", fate.id)),
      fate.code);
}

/// The proof waited for, else the state of the delivery: a value of `status` in `log --json`.
std::string_view reached_status(const SendResult& fate, const SendRequest& letter) {
  if (letter.until != WaitFor::Stored) return name_of(letter.until);
  if (fate.recipients == 0) return "stored";
  return fate.state.empty() ? std::string_view{"queued"} : fate.state;
}

json::object as_json(const SendResult& fate, const SendRequest& letter) {
  json::object answer;
  if (!fate.id.empty()) answer["id"] = fate.id;
  answer["to"] = letter.to;
  answer["status"] = reached_status(fate, letter);
  if (fate.repeat) answer["duplicate"] = true;
  if (fate.recipients) answer["recipients"] = *fate.recipients;
  if (fate.offline_since > 0) answer["offlineSince"] = fate.offline_since;
  if (!fate.waits.empty()) answer["pendingReason"] = fate.waits;
  if (letter.until == WaitFor::Answered) {
    answer["answer"] = fate.answer;
    if (!fate.answer_id.empty()) answer["answerId"] = fate.answer_id;
    if (!fate.matched_by.empty()) answer["matchedBy"] = fate.matched_by;
  } else if (!fate.steps.empty()) {
    const auto& last = fate.steps.back();
    if (!last.proof.empty()) answer["proof"] = last.proof;
    if (!last.via.empty()) answer["via"] = last.via;
    if (!last.evidence.empty()) answer["evidence"] = last.evidence;
  }
  return answer;
}

/// The message is stored and has no recipient.
std::string no_recipient_notice(const SendRequest& letter) {
  if (!letter.to.starts_with('#')) return "stored, but there is no recipient";
  return relay::format(
      "stored, but there is no recipient: {} has no other member; join it with: agent-relay channels join '{}'",
      letter.to, letter.to);
}

/// The message is sent, but the session can never give the requested proof.
ExitCode print_unprovable(const SendResult& fate, const SendRequest& letter) {
  return report_error(relay::format("the session of {} cannot prove that a message was seen, only {}; the message is "
                                    "sent; wait with --wait {}, or see: agent-relay trace {}",
                                    sanitize(letter.to, Lines::Join), fate.proves,
                                    fate.proves == "accepted" ? "accepted" : "delivered", fate.id),
                      ExitCode::Refused);
}

ExitCode tell(const SendResult& fate, const SendRequest& letter, bool json_wanted, const Context& context) {
  switch (fate.kind) {
    case SendResult::Kind::Refused: return report_error(fate.refusal);
    case SendResult::Kind::Undelivered: return report_error("not delivered: " + fate.reason, ExitCode::Failed);
    case SendResult::Kind::NotYet: return print_not_yet(fate, letter, context);
    case SendResult::Kind::Unprovable: return print_unprovable(fate, letter);
    case SendResult::Kind::Repeat:
    case SendResult::Kind::Reached: break;
  }
  if (json_wanted) {
    print(json::serialize(as_json(fate, letter)) + "\n");
  } else if (letter.until == WaitFor::Answered) {
    print(sanitize(fate.answer, Lines::Keep) + (fate.answer.ends_with('\n') ? "" : "\n"));
  } else {
    const auto whom = letter.to == protocol::kEveryone ? "everyone" : sanitize(letter.to, Lines::Join);
    const bool by = letter.until == WaitFor::Accepted || letter.until == WaitFor::Seen;
    print(relay::format("{} {} {}{}\n", name_of(letter.until), by ? "by" : "to", whom,
                        fate.id.empty() ? "" : "  " + sanitize(fate.id, Lines::Join)));
    if (fate.recipients == 0) print_notice(no_recipient_notice(letter));
    if (const auto queued = queued_sentence(fate, letter.to, host_runs(context, fate, letter.to), context.now());
        !queued.empty() && letter.until == WaitFor::Stored)
      print_notice(queued);
  }
  return ExitCode::Ok;
}

/// A duration from now, or a time with its zone.
Result<WallMs> deadline_in(const std::string& text, WallMs now) {
  if (const auto moment = text::parse_iso_time(text)) {
    if (*moment > now) return *moment;
    return fail(relay::format("--deadline cannot be \"{}\": that time is past", text));
  }
  const auto length = parse_duration(text);
  if (length && length->count() > 0) return now + length->count();
  return fail(relay::format("--deadline cannot be \"{}\": give a duration such as 20m, or a time such as {}", text,
                            text::format_iso_time(now + 3'600'000)));
}

/// What was typed about the letter, without its text. Every error is a usage error.
Result<SendRequest> letter_in(const Invocation& invocation, const Context& context) {
  SendRequest letter;
  letter.to = invocation.argument(0);
  RELAY_TRY(check_recipient(letter.to));
  letter.from = RELAY_TRY(sender_name(invocation, "--from", context));
  letter.claim_token = sender_token(context, letter.from);
  letter.id = invocation.value("--id").value_or("");
  if (invocation.has("--id") && (letter.id.empty() || letter.id.size() > protocol::kMaxIdBytes ||
                                 text::has_control_characters(letter.id) || !text::is_utf8(letter.id)))
    return fail(relay::format("--id must be a string of 1 to {} bytes", protocol::kMaxIdBytes));
  letter.kind = invocation.value("--kind").value_or(letter.kind);
  if (const auto mode = invocation.value("--mode")) letter.mode = protocol::parse_delivery_mode(*mode);
  letter.urgent = invocation.has("--urgent");
  letter.topic = invocation.value("--topic").value_or("");
  letter.thread = invocation.value("--thread").value_or("");
  if (const auto id = invocation.value("--reply-to")) {
    RELAY_TRY(check_id_given(*id));
    letter.reply_to = *id;
  }
  if (const auto deadline = invocation.value("--deadline"))
    letter.deadline = RELAY_TRY(deadline_in(*deadline, context.now()));
  if (invocation.has("--ttl")) letter.ttl = RELAY_TRY(invocation.duration("--ttl", Millis{0}));
  if (letter.ttl && (letter.ttl->count() <= 0 || letter.ttl->count() > protocol::kMaxTtlMs))
    return fail("--ttl must be more than 0 and at most 30d");
  if (const auto wait = invocation.value("--wait")) letter.until = until_of(*wait);
  if (invocation.has("--ask")) {
    if (invocation.has("--wait")) return fail("--ask waits for the answer; leave --wait out");
    letter.until = WaitFor::Answered;
  }
  letter.timeout =
      RELAY_TRY(invocation.duration("--timeout", letter.until == WaitFor::Answered ? kDefaultAsk : kDefaultWait));
  if (letter.until != WaitFor::Stored && (letter.to == protocol::kEveryone || letter.to.starts_with('#')))
    return fail(relay::format("{} needs one recipient, not {}; leave it out",
                              letter.until == WaitFor::Answered ? "--ask" : "--wait", letter.to));
  return letter;
}

ExitCode run(const Invocation& invocation, Context& context) {
  auto letter = RELAY_CLI_USAGE(letter_in(invocation, context));
  letter.text = RELAY_CLI_TRY(read_text_argument(invocation.rest(1)));
  if (letter.text.empty()) return report_error("the text is empty", ExitCode::Usage);
  if (!text::is_utf8(letter.text))
    return report_error("the text is not UTF-8; convert it first, for example with iconv", ExitCode::Usage);
  auto connection = RELAY_CLI_TRY(connect_workspace(context));
  const auto& place = context.project.common ? context.project.directory : context.project.tree;
  letter.attachments = RELAY_CLI_TRY(keep_attachments(place, invocation.values("--attach")));
  ProgressLine progress{context, letter.to};
  const auto on_news = [&](const SendResult& fate) {
    progress.show(fate);
    if (fate.steps.empty() && fate.offline_since > 0 && !progress.is_live() && !invocation.has("--json"))
      print_notice(queued_sentence(fate, letter.to, host_runs(context, fate, letter.to), context.now()));
  };
  const Interrupts interrupts;
  connection.end_on_interrupt(interrupts.fd());
  auto fate = send(connection, letter, on_news);
  if (fate && fate->kind == SendResult::Kind::Repeat)
    fate = result_of_duplicate(context, letter, *std::move(fate), on_news, interrupts.fd());
  progress.clear();
  if (!fate) return report_error(fate.error());
  return tell(*fate, letter, invocation.has("--json"), context);
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
     .description = "wait for this proof of delivery; without a value: delivered",
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
        "the id of the message, for `trace` and `read`; --json has the state of the delivery as `status`, or the\n"
        "proof that was waited for, and `stored` when there is no recipient.\n"
        "A message sent again under the same --id is not sent twice: the command reports, or waits for, the result of\n"
        "the first.\n"
        "--mode: on-idle waits for the end of the agent's turn; immediate interrupts it; next-tool-call and\n"
        "next-message add the message to the agent's next input; manual holds it until the agent fetches it, or\n"
        "`flush`. A mode that the agent does not support keeps the message pending; `trace` shows the reason. An\n"
        "agent gets the text as one line; send code or a diff with --attach.",
    .needs_daemon = true,
    .run = run,
};

}  // namespace relay::cli
