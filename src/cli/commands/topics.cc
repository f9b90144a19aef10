/// `agent-relay topics`
#include "base/format.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/framework/context.h"
#include "cli/framework/failure.h"
#include "cli/framework/invocation.h"
#include "cli/wire/json_fields.h"
#include "cli/wire/message.h"
#include "cli/wire/names.h"
#include "cli/wire/workspace.h"
#include "protocol/limits.h"
#include "protocol/names.h"
#include "text/utf8.h"

namespace relay::cli {
namespace {

using protocol::MessageType;

Result<json::object> query_topics(DaemonConnection& connection, const json::object& query) {
  const auto payload = RELAY_TRY(connection.request(MessageType::Topics, json::serialize(query)));
  auto answer = RELAY_TRY(parse_json_object(payload));
  if (const auto error = string_member(answer, "error")) return fail(Errc::Refused, *error);
  return answer;
}

std::string subscribers_in(const json::object& row) {
  std::string text;
  const auto* names = array_member(row, "subscribers");
  for (const auto& name : names != nullptr ? *names : json::array{})
    if (name.is_string()) text += (text.empty() ? "" : ", ") + sanitize(name.as_string(), Lines::Join);
  return text;
}

ExitCode list_all(DaemonConnection& connection, const Invocation& invocation, const Context& context) {
  json::object query;
  if (const auto name = invocation.value("--name")) query["agent"] = *name;
  const auto answer = RELAY_CLI_TRY(query_topics(connection, query));
  if (invocation.has("--json")) {
    print(json::serialize(answer) + "\n");
    return ExitCode::Ok;
  }
  Table columns{{"TOPIC", "SUBSCRIBERS"}};
  for (const auto* row : objects_in(answer, "topics")) columns.add({display_field(*row, "name"), subscribers_in(*row)});
  if (columns.empty())
    print_notice("no subscriptions; add one with: agent-relay topics subscribe TOPIC --name NAME");
  else
    print(columns.text(context.paint, context.width()));
  return ExitCode::Ok;
}

ExitCode change(DaemonConnection& connection, const std::string& verb, const std::string& topic,
                const std::string& name, bool as_json) {
  const auto answer = RELAY_CLI_TRY(query_topics(connection, {{"action", verb}, {"topic", topic}, {"agent", name}}));
  const bool subscribed = verb == "subscribe";
  if (as_json)
    print(json::serialize(json::object{{"topic", topic}, {"name", name}, {"subscribed", subscribed}}) + "\n");
  else
    print_wrapped(relay::format("{} {} {}\n", sanitize(name, Lines::Join),
                                subscribed ? "is subscribed to" : "is not subscribed to",
                                sanitize(topic, Lines::Join)));
  return ExitCode::Ok;
}

ExitCode run_topics(const Invocation& invocation, Context& context) {
  const auto verb = invocation.argument(0);
  const auto topic = invocation.argument(1);
  if (verb.empty() || verb == "list") {
    auto connection = RELAY_CLI_TRY(join_workspace(context));
    return list_all(connection, invocation, context);
  }
  if (verb != "subscribe" && verb != "unsubscribe")
    return report_error(
        relay::format("unknown verb '{}': choose list, subscribe or unsubscribe", sanitize(verb, Lines::Join)),
        ExitCode::Usage);
  if (topic.empty() || topic.size() > protocol::kMaxTopicBytes || text::has_control_characters(topic) ||
      !text::is_utf8(topic))
    return report_error(
        relay::format("topics {} needs a topic of 1 to {} bytes, for example: agent-relay topics {} deploys", verb,
                      protocol::kMaxTopicBytes, verb),
        ExitCode::Usage);
  const auto name = RELAY_CLI_USAGE(sender_name(invocation, "--name", context));
  auto connection = RELAY_CLI_TRY(join_workspace(context));
  return change(connection, verb, topic, name, invocation.has("--json"));
}

constexpr Argument kTopicArguments[] = {
    {.name = "[VERB]",
     .arity = Arity::Optional,
     .description = "list, subscribe or unsubscribe; default: list",
     .choices = "list|subscribe|unsubscribe"},
    {.name = "[TOPIC]", .arity = Arity::Optional, .description = "the topic, for example deploys"},
};
constexpr Option kTopicOptions[] = {
    {.name = "--name",
     .value = "NAME",
     .description = "whose subscription; default $AGENT_RELAY_NAME, $USER or human; list: only NAME's",
     .completes = CompletionKind::Agents},
    kJsonOption,
};

}  // namespace

const Command kTopics = {
    .name = "topics",
    .group = Group::Together,
    .usage = "topics [VERB] [TOPIC]",
    .summary = "list and change topic subscriptions",
    .arguments = kTopicArguments,
    .options = kTopicOptions,
    .example = "agent-relay topics subscribe deploys --name Bob && agent-relay send '*' --topic deploys \"v2 is live\"",
    .details =
        "A message to every agent ('*') with --topic reaches only those subscribed to it. A subscription belongs to a\n"
        "session and ends with it; to reach offline agents, use a channel. An agent subscribes itself with\n"
        "`@relay:subscribe TOPIC`, or through MCP with relay_topics. `log --topic` and `inbox --topic` show the\n"
        "messages about a topic.",
    .needs_daemon = true,
    .run = run_topics,
};

}  // namespace relay::cli
