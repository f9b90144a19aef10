/// `agent-relay channels`
#include <algorithm>

#include "base/format.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/framework/context.h"
#include "cli/framework/invocation.h"
#include "cli/wire/json_fields.h"
#include "cli/wire/message.h"
#include "cli/wire/names.h"
#include "cli/wire/workspace.h"
#include "protocol/limits.h"
#include "protocol/names.h"

namespace relay::cli {
namespace {

using protocol::MessageType;

constexpr std::int64_t kDefaultRows = 20;

/// Adds a missing `#`: in a shell an unquoted one starts a comment. The error is a usage error.
Result<std::string> parse_channel(const std::string& typed) {
  if (typed.empty()) return fail("name a channel, for example: '#dev' (in quotes, or the shell drops it)");
  auto name = typed.starts_with('#') ? typed : "#" + typed;
  RELAY_TRY(check_recipient(name));
  return name;
}

Result<json::object> query_channels(DaemonConnection& connection, const json::object& query) {
  const auto payload = RELAY_TRY(connection.request(MessageType::Channels, json::serialize(query)));
  auto answer = RELAY_TRY(parse_json_object(payload));
  if (const auto error = string_member(answer, "error")) return fail(Errc::Refused, "the daemon refused: " + *error);
  return answer;
}

ExitCode list(DaemonConnection& connection, bool as_json, const Context& context) {
  const auto answer = RELAY_CLI_TRY(query_channels(connection, {}));
  if (as_json) {
    print(json::serialize(answer) + "\n");
    return ExitCode::Ok;
  }
  Table columns{{"CHANNEL", "MEMBERS"}};
  for (const auto* row : objects_in(answer, "channels"))
    columns.add({display_field(*row, "name"), relay::format("{}", integer_member(*row, "members").value_or(0))});
  if (columns.empty())
    print_notice("no channels yet; create one with: agent-relay channels join '#dev'");
  else
    print(columns.text(context.paint, context.width()));
  return ExitCode::Ok;
}

ExitCode members(DaemonConnection& connection, const std::string& channel, bool as_json, const Context& context) {
  const auto answer = RELAY_CLI_TRY(query_channels(connection, {{"channel", channel}}));
  if (as_json) {
    print(json::serialize(answer) + "\n");
    return ExitCode::Ok;
  }
  Table columns{{"NAME", "STATUS"}};
  for (const auto* row : objects_in(answer, "members"))
    columns.add(
        {display_field(*row, "name"), bool_member(*row, "connected").value_or(false) ? "connected" : "offline"});
  if (columns.empty())
    print_notice(relay::format("{} has no members; join it with: agent-relay channels join '{}'", channel, channel));
  else
    print(columns.text(context.paint, context.width()));
  return ExitCode::Ok;
}

/// CHANNEL_JOIN has no response, so the member list is requested after it: the daemon handles frames in order.
ExitCode change(DaemonConnection& connection, const std::string& channel, const std::string& member, bool join,
                bool as_json) {
  const auto payload = json::serialize(json::object{{"channel", channel}, {"member", member}});
  (void)RELAY_CLI_TRY(connection.send(
      {.type = join ? MessageType::ChannelJoin : MessageType::ChannelLeave, .id = {}, .payload = payload}));
  const auto answer = RELAY_CLI_TRY(query_channels(connection, {{"channel", channel}}));
  const auto rows = objects_in(answer, "members");
  const bool in = std::ranges::any_of(rows, [&](const auto* row) { return string_member(*row, "name") == member; });
  if (in != join)
    return report_error(relay::format("{} could not {} {}; see: agent-relay channels members '{}'", member,
                                      join ? "join" : "leave", channel, channel),
                        ExitCode::Failed);
  if (as_json)
    print(json::serialize(json::object{{"channel", channel}, {"name", member}, {"member", in}}) + "\n");
  else
    print_wrapped(relay::format("{} {} {}\n", sanitize(member, Lines::Join), join ? "joined" : "left",
                                sanitize(channel, Lines::Join)));
  return ExitCode::Ok;
}

ExitCode history(DaemonConnection& connection, const std::string& channel, const Invocation& invocation,
                 const Context& context) {
  const auto limit = RELAY_CLI_USAGE(invocation.number("--limit", 1, protocol::kMaxQueryRows, kDefaultRows));
  auto messages = RELAY_CLI_TRY(newest_messages(connection, MessageType::MessagesQuery, {{"to", channel}}, limit));
  std::ranges::sort(messages, {}, &MessageRow::key);
  const auto shape = invocation.has("--json") ? Shape::Json : Shape::Lines;
  print_messages(messages, context, shape);
  if (messages.empty() && shape == Shape::Lines) print_notice(relay::format("no messages in {} yet", channel));
  return ExitCode::Ok;
}

ExitCode run(const Invocation& invocation, Context& context) {
  const auto verb = invocation.argument(0);
  const bool as_json = invocation.has("--json");
  if (verb.empty()) {
    auto connection = RELAY_CLI_TRY(join_workspace(context));
    return list(connection, as_json, context);
  }
  if (verb != "members" && verb != "join" && verb != "leave" && verb != "history")
    return report_error(
        relay::format("unknown verb '{}': choose members, join, leave or history", sanitize(verb, Lines::Join)),
        ExitCode::Usage);
  const auto channel = RELAY_CLI_USAGE(parse_channel(invocation.argument(1)));
  const auto name = RELAY_CLI_USAGE(sender_name(invocation, "--name", context));
  auto connection = RELAY_CLI_TRY(join_workspace(context));
  if (verb == "members") return members(connection, channel, as_json, context);
  if (verb == "history") return history(connection, channel, invocation, context);
  return change(connection, channel, name, verb == "join", as_json);
}

constexpr Argument kArguments[] = {
    {.name = "[VERB]",
     .arity = Arity::Optional,
     .description = "members, join, leave or history; default: list all channels",
     .choices = "members|join|leave|history"},
    {.name = "[CHANNEL]",
     .arity = Arity::Optional,
     .description = "the channel: '#dev' in quotes, or dev",
     .completes = CompletionKind::Channels},
};
constexpr Option kOptions[] = {
    {.name = "--name",
     .value = "NAME",
     .description = "the member that joins or leaves; default $AGENT_RELAY_NAME, $USER or human",
     .completes = CompletionKind::Agents},
    {.name = "--limit", .value = "N", .description = "history: the newest N messages (default 20)"},
    kJsonOption,
};

}  // namespace

const Command kChannels = {
    .name = "channels",
    .group = Group::Together,
    .usage = "channels [VERB] [CHANNEL]",
    .summary = "list, join and leave channels",
    .arguments = kArguments,
    .options = kOptions,
    .example = "agent-relay channels join '#dev' && agent-relay send '#dev' \"the build is green\"",
    .details =
        "A message to a channel reaches its members; offline members get it when they connect. Channel names are\n"
        "case-insensitive.",
    .needs_daemon = true,
    .run = run,
};

}  // namespace relay::cli
