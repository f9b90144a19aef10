/// `agent-relay search WORDS`
#include <algorithm>

#include "base/format.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/framework/context.h"
#include "cli/framework/invocation.h"
#include "cli/wire/message.h"
#include "cli/wire/workspace.h"
#include "protocol/limits.h"

namespace relay::cli {
namespace {

constexpr std::int64_t kDefaultRows = 20;

ExitCode run(const Invocation& invocation, Context& context) {
  const auto limit = RELAY_CLI_USAGE(invocation.number("--limit", 1, protocol::kMaxQueryRows, kDefaultRows));
  const auto words = invocation.rest(0);
  if (words.find_first_not_of(' ') == std::string::npos)
    return report_error("search needs a word, for example: agent-relay search flaky", ExitCode::Usage);
  auto connection = RELAY_CLI_TRY(join_workspace(context));
  json::object query = {{"search", words}};
  if (const auto from = invocation.value("--from")) query["from"] = *from;
  if (const auto to = invocation.value("--to")) query["to"] = *to;
  auto messages = RELAY_CLI_TRY(newest_messages(connection, protocol::MessageType::MessagesQuery, query, limit));
  std::sort(messages.begin(), messages.end(), [](const MessageRow& a, const MessageRow& b) { return a.key < b.key; });
  const auto shape = invocation.has("--json") ? Shape::Json : Shape::Lines;
  print_messages(messages, context, shape);
  if (!messages.empty()) return ExitCode::Ok;
  if (shape == Shape::Lines) print_notice(relay::format("no messages contain {}", words));
  return ExitCode::Failed;
}

constexpr Argument kArguments[] = {{.name = "WORDS", .arity = Arity::Many, .description = "all of them must occur"}};
constexpr Option kOptions[] = {
    {.name = "--from", .value = "NAME", .description = "only messages from NAME", .completes = CompletionKind::Agents},
    {.name = "--to", .value = "NAME", .description = "only messages to NAME", .completes = CompletionKind::Agents},
    {.name = "--limit", .value = "N", .description = "the newest N messages (default 20)"},
    kJsonOption,
};

}  // namespace

const Command kSearch = {
    .name = "search",
    .group = Group::Inspect,
    .usage = "search WORDS",
    .summary = "find messages that contain WORDS",
    .hint = "[--json]",
    .arguments = kArguments,
    .options = kOptions,
    .example = "agent-relay search flaky login test",
    .needs_daemon = true,
    .run = run,
};

}  // namespace relay::cli
