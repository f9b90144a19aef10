/// `agent-relay inbox [NAME]`
#include <algorithm>

#include "base/format.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/context.h"
#include "cli/invocation.h"
#include "cli/message.h"
#include "cli/people.h"
#include "cli/workspace.h"
#include "protocol/limits.h"

namespace relay::cli {
namespace {

constexpr std::int64_t kMostRows = protocol::kMaxQueryRows;

ExitCode run(const Invocation& invocation, Context& context) {
  const auto limit = RELAY_CLI_USAGE(invocation.number("--limit", 1, kMostRows, protocol::kDefaultInboxRows));
  const auto name = invocation.argument(0).empty() ? context.own_name() : invocation.argument(0);
  auto connection = RELAY_CLI_TRY(join_workspace(context));
  auto messages = RELAY_CLI_TRY(newest_messages(connection, protocol::MessageType::Inbox,
                                                {{"agent", name},
                                                 {"unreadOnly", invocation.has("--unread")},
                                                 {"topic", invocation.value("--topic").value_or("")}},
                                                limit));
  if (messages.empty() && !invocation.argument(0).empty())
    if (const auto sentence = RELAY_CLI_TRY(sentence_about_stranger(connection, name)); !sentence.empty())
      return complain(sentence, ExitCode::No);
  for (auto& message : messages)
    if (message.to.empty()) message.to = name;
  std::sort(messages.begin(), messages.end(), [](const Message& a, const Message& b) { return a.key < b.key; });
  const auto shape = invocation.has("--json") ? Shape::Json : Shape::Lines;
  print_messages(messages, context, shape);
  if (messages.empty() && shape == Shape::Lines) remark(relay::format("the inbox of {} is empty", name));
  return ExitCode::Yes;
}

constexpr Argument kArguments[] = {{.name = "[NAME]",
                                    .arity = Arity::Optional,
                                    .description = "whose inbox; default $AGENT_RELAY_NAME, $USER or human",
                                    .completes = Completes::Agents}};
constexpr Option kOptions[] = {
    {.name = "--unread", .description = "only what has not been delivered yet"},
    {.name = "--topic", .value = "TOPIC", .description = "only what is about TOPIC"},
    {.name = "--limit", .value = "N", .description = "at most N messages, the newest (default 50)"},
    kJsonOption,
};

}  // namespace

const Command kInbox = {
    .name = "inbox",
    .group = Group::Everyday,
    .usage = "inbox [NAME]",
    .summary = "what was said to NAME, or to you",
    .hint = "[--unread]",
    .arguments = kArguments,
    .options = kOptions,
    .example = "agent-relay inbox Bob --unread",
    .needs_daemon = true,
    .run = run,
};

}  // namespace relay::cli
