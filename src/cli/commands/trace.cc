/// `agent-relay trace ID`: the delivery history of a message.
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "base/format.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/framework/context.h"
#include "cli/framework/invocation.h"
#include "cli/render/timeline.h"
#include "cli/wire/message.h"
#include "cli/wire/trace_watch.h"
#include "cli/wire/workspace.h"

namespace relay::cli {
namespace {

using protocol::MessageType;

constexpr std::chrono::hours kForever{24 * 365};

/// Draws the timeline again and again, on a terminal in place of the previous one.
class Redrawn {
 public:
  Redrawn(const Context& context, bool as_json) : context_{context}, json_{as_json} {}

  void show(const json::object& trace) {
    const auto text = json_ ? json::serialize(trace) + "\n" : timeline(trace, render_context_of(context_));
    if (text == printed_) return;
    print((json_ || printed_.empty() ? "" : context_.to_terminal ? back() : "\n") + text);
    printed_ = text;
  }

 private:
  /// Moves the cursor to the start of the previous timeline; clears the screen when that has scrolled off.
  [[nodiscard]] std::string back() const {
    winsize size{};
    const auto rows = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
    const auto lines = std::ranges::count(printed_, '\n');
    return lines < rows ? relay::format("\x1b[{}F\x1b[J", lines) : "\x1b[H\x1b[2J";
  }

  const Context& context_;
  bool json_;
  std::string printed_;
};

ExitCode run(const Invocation& invocation, Context& context) {
  const auto id = invocation.argument(0);
  RELAY_CLI_USAGE(check_message_id(id));
  auto connection = RELAY_CLI_TRY(join_workspace(context));
  Redrawn drawing{context, invocation.has("--json")};
  if (invocation.has("--follow")) {
    connection.watch_output(STDOUT_FILENO);
    RELAY_CLI_TRY(watch_trace(connection, id, in(kForever), [&](const json::object& trace) {
      drawing.show(trace);
      return is_final_state(trace);
    }));
    return ExitCode::Ok;
  }
  const auto payload = RELAY_CLI_TRY(connection.request(MessageType::Trace, json::serialize(json::object{{"id", id}})));
  const auto answer = RELAY_CLI_TRY(parse_json_object(payload));
  if (const auto error = string_member(answer, "error")) return report_error(*error, ExitCode::Failed);
  drawing.show(answer);
  return ExitCode::Ok;
}

constexpr Argument kArguments[] = {{.name = "ID",
                                    .description = "the id of a message, or its first characters (at least 4)",
                                    .completes = CompletionKind::Messages}};
constexpr Option kOptions[] = {
    {.name = "--follow", .description = "redraw it on every change, until every delivery is final"},
    kJsonOption,
};

}  // namespace

const Command kTrace = {
    .name = "trace",
    .group = Group::Everyday,
    .usage = "trace ID",
    .summary = "show the delivery history of a message",
    .hint = "[--follow]",
    .arguments = kArguments,
    .options = kOptions,
    .example = "agent-relay trace 7kq2m9xa",
    .details =
        "Prints a timeline for each recipient: every change of state, the time since the message was sent, the proof\n"
        "held for it (stored, accepted, written, submitted, seen), the interface it went by and the evidence; then\n"
        "the outcome, or the reason why it is pending.",
    .needs_daemon = true,
    .run = run,
};

}  // namespace relay::cli
