/// `agent-relay trace ID`: the ledger of one message.
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "base/format.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/context.h"
#include "cli/invocation.h"
#include "cli/message.h"
#include "cli/timeline.h"
#include "cli/workspace.h"

namespace relay::cli {
namespace {

using protocol::MessageType;

constexpr std::chrono::hours kForever{24 * 365};

/// The same drawing again and again, each in the place of the one before where that can be done.
class Redrawn {
 public:
  Redrawn(const Context& context, bool as_json) : context_{context}, json_{as_json} {}

  void show(const json::object& trace) {
    const auto text = json_ ? json::serialize(trace) + "\n" : timeline(trace, canvas_of(context_));
    if (text == shown_) return;
    print((json_ || shown_.empty() ? "" : context_.to_terminal ? back() : "\n") + text);
    shown_ = text;
  }

 private:
  /// To where the last one began, if that is still on the screen; else a fresh screen.
  [[nodiscard]] std::string back() const {
    winsize size{};
    const auto rows = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
    const auto lines = std::ranges::count(shown_, '\n');
    return lines < rows ? relay::format("\x1b[{}F\x1b[J", lines) : "\x1b[H\x1b[2J";
  }

  const Context& context_;
  bool json_;
  std::string shown_;
};

/// Whether something may have happened to that message; an event that says nothing about whom it concerns may.
bool concerns(const protocol::Envelope& envelope, const std::string& message_id) {
  if (envelope.type != MessageType::AgentEvent) return false;
  const auto event = parse_json_object(envelope.payload);
  const auto* message = event ? object_member(*event, "message") : nullptr;
  return message == nullptr || message_id.empty() || string_member(*message, "id") == message_id;
}

/// Asks, shows, and asks again whenever a delivery has changed since: events say when to look, the ledger what is so.
/// A change that is told between the question and its answer counts as one after it.
Result<ExitCode> follow(Connection& connection, const std::string& id, Redrawn& drawing) {
  connection.end_with(STDOUT_FILENO);
  RELAY_TRY(connection.send({.type = MessageType::EventsSubscribe, .id = {}, .payload = R"({"types":["delivery"]})"}));
  const auto question = json::serialize(json::object{{"id", id}});
  std::string message_id;  // whole, once it is known
  for (;;) {
    const auto asked = RELAY_TRY(connection.send({.type = MessageType::Trace, .id = {}, .payload = question}));
    for (bool answered = false, changed = false; !answered || !changed;) {
      const auto frame = RELAY_TRY(connection.receive(in(answered ? kForever : std::chrono::hours{1})));
      if (frame.envelope.type == MessageType::Error)
        return fail(Errc::Refused, RELAY_TRY(protocol::parse_error(frame.envelope.payload)).message);
      changed = changed || concerns(frame.envelope, message_id);
      if (frame.envelope.id != asked) continue;
      answered = true;
      const auto trace = RELAY_TRY(parse_json_object(frame.envelope.payload));
      if (const auto error = string_member(trace, "error")) return complain(*error, ExitCode::No);
      if (const auto* message = object_member(trace, "message"))
        message_id = string_member(*message, "id").value_or("");
      drawing.show(trace);
      if (has_ended(trace)) return ExitCode::Yes;
    }
  }
}

ExitCode run(const Invocation& invocation, Context& context) {
  const auto id = invocation.argument(0);
  RELAY_CLI_USAGE(check_id_given(id));
  auto connection = RELAY_CLI_TRY(join_workspace(context));
  Redrawn drawing{context, invocation.has("--json")};
  if (invocation.has("--follow")) return RELAY_CLI_TRY(follow(connection, id, drawing));
  const auto payload = RELAY_CLI_TRY(connection.ask(MessageType::Trace, json::serialize(json::object{{"id", id}})));
  const auto answer = RELAY_CLI_TRY(parse_json_object(payload));
  if (const auto error = string_member(answer, "error")) return complain(*error, ExitCode::No);
  drawing.show(answer);
  return ExitCode::Yes;
}

constexpr Argument kArguments[] = {{.name = "ID", .description = "a message's id, or its first letters (at least 4)"}};
constexpr Option kOptions[] = {
    {.name = "--follow", .description = "draw it anew with every change, until every delivery has ended"},
    kJsonOption,
};

}  // namespace

const Command kTrace = {
    .name = "trace",
    .group = Group::Knowing,
    .usage = "trace ID",
    .summary = "what happened to a message",
    .hint = "[--follow]",
    .arguments = kArguments,
    .options = kOptions,
    .example = "agent-relay trace 7kq2m9xa",
    .details =
        "A time line for each recipient: every change of state, the time since it was sent, the proof held for it\n"
        "(stored, accepted, written, submitted, seen), the way it went and the evidence; then in words what became\n"
        "of it, or what it waits for.",
    .run = run,
};

}  // namespace relay::cli
