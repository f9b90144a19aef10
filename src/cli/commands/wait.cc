/// `agent-relay wait NAME --until idle`
#include <cstdint>
#include <optional>

#include "base/format.h"
#include "cli/commands/commands.h"
#include "cli/framework/context.h"
#include "cli/framework/failure.h"
#include "cli/framework/invocation.h"
#include "cli/wire/host_connection.h"

namespace relay::cli {
namespace {

constexpr Millis kMaxWait{365LL * 24 * 3600 * 1000};

/// The event ends the wait.
bool is_awaited(const json::object& event, std::string_view until) {
  const auto kind = string_member(event, "event").value_or("");
  if (until == "message") return kind == "sent";
  if (until == "exit") return kind == "exit";
  return kind == "state" && string_member(event, "state") == until;
}

ExitCode print_event(const host::HostRecord& record, const json::object& event, bool as_json) {
  if (as_json) {
    print(json::serialize(event) + "\n");
    return ExitCode::Ok;
  }
  const auto kind = string_member(event, "event").value_or("");
  if (kind == "sent")
    print_wrapped(relay::format("{} sent a message to {}\n", record.name,
                                sanitize(string_member(event, "to").value_or("?"), Lines::Join)));
  else if (kind == "exit")
    print_wrapped(relay::format("{} exited with code {}\n", record.name, integer_member(event, "code").value_or(0)));
  else
    print_wrapped(relay::format("{} is {}\n", record.name, string_member(event, "state").value_or("?")));
  return ExitCode::Ok;
}

ExitCode run(const Invocation& invocation, Context& context) {
  const auto until = invocation.value("--until").value_or("idle");
  const auto timeout = RELAY_CLI_USAGE(invocation.duration("--timeout", kMaxWait));
  const auto deadline = in(timeout);
  const auto record =
      RELAY_CLI_TRY(find_host(context, invocation.argument(0), {.done = "waited for", .deadline = deadline}));
  auto host = RELAY_CLI_TRY(HostConnection::open(record));
  (void)RELAY_CLI_TRY(host.request({{"method", "watch"}}));
  std::optional<std::int64_t> exit_code;  // its last message is stored a little later
  for (;;) {
    const auto event = host.next(deadline);
    if (!event && is(event.error(), Errc::TimedOut))
      return report_error(relay::format("{} did not {} within {}; see: agent-relay explain {}", record.name,
                                        until == "message" ? "send a message"
                                        : until == "exit"  ? "exit"
                                                           : "become " + until,
                                        invocation.value("--timeout").value_or(""), record.name),
                          ExitCode::TimedOut);
    if (!event && !exit_code) return report_error(event.error().message(), ExitCode::Failed);
    if (event && is_awaited(*event, until)) return print_event(record, *event, invocation.has("--json"));
    if (event && string_member(*event, "event") == "exit") exit_code = integer_member(*event, "code").value_or(0);
    if (exit_code && (!event || until != "message"))
      return report_error(relay::format("{} exited (code {}) first", record.name, *exit_code), ExitCode::Failed);
  }
}

constexpr Argument kArguments[] = {
    {.name = "NAME", .description = "the agent", .completes = CompletionKind::Agents},
};
constexpr Option kOptions[] = {
    {.name = "--until",
     .value = "WHAT",
     .description = "what to wait for; default: idle",
     .choices = "idle|typing|working|blocked|message|exit"},
    {.name = "--timeout", .value = "TIME", .description = "give up after this time: 30s, 5m; default: never"},
    kJsonOption,
};

}  // namespace

const Command kWait = {
    .name = "wait",
    .group = Group::Agents,
    .usage = "wait NAME",
    .summary = "wait for a state of an agent, its next message or its exit",
    .hint = "[--until WHAT]",
    .arguments = kArguments,
    .options = kOptions,
    .listed = false,
    .example = "agent-relay wait Bob --until idle --timeout 5m",
    .details =
        "Returns at once when the agent is already in that state; `message` is the next message that the agent sends.\n"
        "Exit code 4 on a timeout, 1 when the agent exits first.",
    .run = run,
};

}  // namespace relay::cli
