/// `agent-relay flush NAME`
#include <algorithm>

#include "base/format.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/framework/context.h"
#include "cli/framework/invocation.h"
#include "cli/wire/control_request.h"
#include "cli/wire/workspace.h"

namespace relay::cli {
namespace {

Result<bool> is_paused(DaemonConnection& connection, const std::string& name) {
  const auto payload = RELAY_TRY(connection.request(protocol::MessageType::Status, "{}"));
  const auto status = RELAY_TRY(parse_json_object(payload));
  const auto* paused = array_member(status, "paused");
  return paused != nullptr && std::ranges::find(*paused, json::value(name)) != paused->end();
}

ExitCode run(const Invocation& invocation, Context& context) {
  const auto name = invocation.argument(0);
  json::object request = {{"action", "flush"}, {"agent", name}};
  if (const auto mode = invocation.value("--mode")) request["mode"] = *mode;
  auto connection = RELAY_CLI_TRY(join_workspace(context));
  const auto done = RELAY_CLI_TRY(send_control(connection, request));
  if (done.refusal) return report_error(*done.refusal);
  if (invocation.has("--json")) {
    print(json::serialize(json::object{{"name", name}, {"count", done.count()}}) + "\n");
    return ExitCode::Ok;
  }
  const auto agent = sanitize(name, Lines::Join);
  const bool paused = RELAY_CLI_TRY(is_paused(connection, name));
  if (done.count() == 0 && paused)
    print_notice(
        relay::format("no held messages for {}, but it is paused; resume with: agent-relay unpause {}", agent, agent));
  else if (done.count() == 0)
    print_notice(
        relay::format("no held messages for {}; list pending ones with: agent-relay inbox {} --unread", agent, agent));
  else
    print_wrapped(
        relay::format("released {} for {}{}\n", message_count(done.count()), agent,
                      paused ? relay::format("; it is paused: resume with: agent-relay unpause {}", agent) : ""));
  return ExitCode::Ok;
}

constexpr Argument kArguments[] = {{.name = "NAME", .description = "the agent", .completes = CompletionKind::Agents}};
constexpr Option kOptions[] = {
    {.name = "--mode",
     .value = "MODE",
     .description = "only messages sent in this mode",
     .choices = "immediate|next-message|next-tool-call|on-idle|manual"},
    kJsonOption,
};

}  // namespace

const Command kFlush = {
    .name = "flush",
    .group = Group::Control,
    .usage = "flush NAME",
    .summary = "release messages held for an agent",
    .hint = "[--mode]",
    .arguments = kArguments,
    .options = kOptions,
    .listed = false,
    .example = "agent-relay flush Bob",
    .details =
        "Releases messages sent with --mode manual, those held by the agent's policy and those waiting for a\n"
        "retry; they reach the agent when it is idle. A paused agent stays paused.",
    .needs_daemon = true,
    .run = run,
};

}  // namespace relay::cli
