/// `agent-relay release NAME`
#include "base/format.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/framework/context.h"
#include "cli/framework/failure.h"
#include "cli/framework/invocation.h"
#include "cli/wire/host_connection.h"
#include "cli/wire/workspace.h"
#include "text/json_writer.h"

namespace relay::cli {
namespace {

constexpr std::chrono::seconds kTimeout{15};
constexpr std::chrono::seconds kDaemonTimeout{20};  // the daemon itself gives up earlier

/// Waits until nobody is behind the door any more.
Result<void> until_gone(HostConnection& visit, const std::string& agent) {
  const auto deadline = in(kTimeout);
  for (;;) {
    const auto event = visit.next(deadline);
    if (event) continue;
    if (is(event.error(), Errc::HostGone)) return {};
    if (!is(event.error(), Errc::TimedOut)) return Failure{event.error()};
    return fail(Errc::TimedOut,
                relay::format("{} was told to end and is still there after {} s; see what it does with: "
                              "agent-relay attach {}",
                              agent, kTimeout.count(), agent));
  }
}

/// A process inside an agent ends nobody at the door. The daemon does it, and records which agent asked.
Result<void> ask_daemon(const Context& context, const std::string& agent, const std::string& reason) {
  auto connection = RELAY_TRY(join_workspace(context));
  text::JsonWriter request;
  request.field("name", agent).optional("reason", reason);
  const auto payload = RELAY_TRY(connection.request(protocol::MessageType::Release, request.take(), kDaemonTimeout));
  const auto result = RELAY_TRY(parse_json_object(payload));
  if (bool_member(result, "success").value_or(false)) return {};
  return fail(Errc::Refused, string_member(result, "error").value_or("it was not released"));
}

/// The user's goes straight to the host's socket, so that it works without the daemon as well; an agent's through the daemon.
ExitCode run(const Invocation& invocation, Context& context) {
  const auto record = RELAY_CLI_TRY(
      find_host(context, invocation.argument(0), {.done = "released", .instead = "end it where it runs"}));
  if (!record.detached && !record.headless)
    return report_error(
        relay::format("{} runs in a terminal of its own (pid {}); end it there, as you would without us", record.name,
                      record.pid),
        ExitCode::Refused);
  auto visit = RELAY_CLI_TRY(HostConnection::open(record));
  json::object request = {{"method", "release"}, {"by", context.environment("AGENT_RELAY_NAME").value_or("human")}};
  const auto reason = invocation.value("--reason").value_or("");
  if (!reason.empty()) request["reason"] = reason;
  const auto answer = visit.request(std::move(request));
  const bool gone_already = !answer && is(answer.error(), Errc::HostGone) && !HostConnection::open(record);
  const bool refused = !answer && is(answer.error(), Errc::Refused);
  if (refused) RELAY_CLI_TRY(ask_daemon(context, record.name, reason));
  if (!answer && !gone_already && !refused) return report_error(answer.error());
  if (!gone_already) RELAY_CLI_TRY(until_gone(visit, record.name));
  if (invocation.has("--json"))
    print(json::serialize(json::object{{"name", record.name}, {"released", true}}) + "\n");
  else
    print_sentence(relay::format("{} has ended\n", sanitize(record.name, Lines::Join)));
  return ExitCode::Ok;
}

constexpr Argument kArguments[] = {{.name = "NAME", .description = "the agent", .completes = CompletionKind::Agents}};
constexpr Option kOptions[] = {
    {.name = "--reason", .value = "TEXT", .description = "why, for its log"},
    kJsonOption,
};

}  // namespace

const Command kRelease = {
    .name = "release",
    .group = Group::Agents,
    .usage = "release NAME",
    .summary = "end an agent that was spawned",
    .hint = "[--reason]",
    .arguments = kArguments,
    .options = kOptions,
    .example = "agent-relay release Bob --reason \"the review is done\"",
    .details = "Returns when it is gone. Messages for its name wait for whoever has it next. Works without the daemon.",
    .run = run,
};

}  // namespace relay::cli
