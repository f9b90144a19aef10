/// `agent-relay read ID`
#include "base/format.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/framework/context.h"
#include "cli/framework/invocation.h"
#include "cli/wire/message.h"
#include "cli/wire/workspace.h"

namespace relay::cli {
namespace {

constexpr int kMaxChoices = 20;

ExitCode run(const Invocation& invocation, Context& context) {
  const auto id = invocation.argument(0);
  RELAY_CLI_USAGE(check_message_id(id));
  auto connection = RELAY_CLI_TRY(join_workspace(context));
  const auto messages =
      RELAY_CLI_TRY(newest_messages(connection, protocol::MessageType::MessagesQuery, {{"id", id}}, kMaxChoices));
  if (messages.empty())
    return report_error(relay::format("no message id starts with {}; see: agent-relay log", id), ExitCode::Failed);
  if (messages.size() > 1) {
    std::string ids;
    for (const auto& message : messages) ids += (ids.empty() ? "" : ", ") + message.id;
    return report_error(relay::format("several ids start with {}; give more characters: {}", id, ids),
                        ExitCode::Failed);
  }
  print(invocation.has("--json") ? json::serialize(messages.front().raw) + "\n"
                                 : message_page(messages.front(), context));
  return ExitCode::Ok;
}

constexpr Argument kArguments[] = {{.name = "ID",
                                    .description = "the id of a message, or its first characters (at least 4)",
                                    .completes = CompletionKind::Messages}};
constexpr Option kOptions[] = {kJsonOption};

}  // namespace

const Command kRead = {
    .name = "read",
    .group = Group::Everyday,
    .usage = "read ID",
    .summary = "show a whole message",
    .hint = "[--json]",
    .arguments = kArguments,
    .options = kOptions,
    .example = "agent-relay read 7kq2",
    .needs_daemon = true,
    .run = run,
};

}  // namespace relay::cli
