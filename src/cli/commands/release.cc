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
constexpr std::chrono::seconds kDaemonTimeout{20};  // longer than the daemon's own timeout

/// Waits until the host has closed its socket.
Result<void> wait_for_exit(HostConnection& host, const std::string& agent) {
  const auto deadline = in(kTimeout);
  for (;;) {
    const auto event = host.next(deadline);
    if (event) continue;
    if (is(event.error(), Errc::HostGone)) return {};
    if (!is(event.error(), Errc::TimedOut)) return Failure{event.error()};
    return fail(Errc::TimedOut,
                relay::format("{} is still running {} s after the request; see its screen with: agent-relay attach {}",
                              agent, kTimeout.count(), agent));
  }
}

/// The host socket refuses `release` to a process inside an agent. The daemon executes it and records the requesting
/// agent.
Result<void> release_through_daemon(const Context& context, const std::string& agent, const std::string& reason) {
  auto connection = RELAY_TRY(join_workspace(context));
  text::JsonWriter request;
  request.field("name", agent).optional("reason", reason);
  const auto payload = RELAY_TRY(connection.request(protocol::MessageType::Release, request.take(), kDaemonTimeout));
  const auto result = RELAY_TRY(parse_json_object(payload));
  if (bool_member(result, "success").value_or(false)) return {};
  return fail(Errc::Refused, string_member(result, "error").value_or("it was not released"));
}

/// A request of the user goes to the host socket, so that it works without the daemon; an agent's goes through the
/// daemon.
ExitCode run(const Invocation& invocation, Context& context) {
  const auto record = RELAY_CLI_TRY(
      find_host(context, invocation.argument(0), {.done = "released", .instead = "stop it where it runs"}));
  if (!record.detached && !record.headless)
    return report_error(
        relay::format("{} runs in its own terminal (pid {}); exit it there", record.name, record.host_pid),
        ExitCode::Refused);
  auto host = RELAY_CLI_TRY(HostConnection::open(record));
  json::object request = {{"method", "release"}, {"by", context.environment("AGENT_RELAY_NAME").value_or("human")}};
  const auto reason = invocation.value("--reason").value_or("");
  if (!reason.empty()) request["reason"] = reason;
  const auto answer = host.request(std::move(request));
  const bool has_exited = !answer && is(answer.error(), Errc::HostGone) && !HostConnection::open(record);
  const bool refused = !answer && is(answer.error(), Errc::Refused);
  if (refused) RELAY_CLI_TRY(release_through_daemon(context, record.name, reason));
  if (!answer && !has_exited && !refused) return report_error(answer.error());
  if (!has_exited) RELAY_CLI_TRY(wait_for_exit(host, record.name));
  if (invocation.has("--json"))
    print(json::serialize(json::object{{"name", record.name}, {"released", true}}) + "\n");
  else
    print_wrapped(relay::format("released {}\n", sanitize(record.name, Lines::Join)));
  return ExitCode::Ok;
}

constexpr Argument kArguments[] = {{.name = "NAME", .description = "the agent", .completes = CompletionKind::Agents}};
constexpr Option kOptions[] = {
    {.name = "--reason", .value = "TEXT", .description = "the reason, for the agent's log"},
    kJsonOption,
};

}  // namespace

const Command kRelease = {
    .name = "release",
    .group = Group::Agents,
    .usage = "release NAME",
    .summary = "stop a spawned agent",
    .hint = "[--reason]",
    .arguments = kArguments,
    .options = kOptions,
    .example = "agent-relay release Bob --reason \"the review is done\"",
    .details =
        "Returns when the agent has exited. Messages to its name stay pending for the next agent of that name. Works\n"
        "without the daemon.",
    .run = run,
};

}  // namespace relay::cli
