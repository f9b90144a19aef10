/// `agent-relay inbox [NAME]`
#include <algorithm>
#include <set>

#include "base/format.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/framework/context.h"
#include "cli/framework/invocation.h"
#include "cli/wire/control_request.h"
#include "cli/wire/json_fields.h"
#include "cli/wire/message.h"
#include "cli/wire/names.h"
#include "cli/wire/workspace.h"
#include "protocol/limits.h"

namespace relay::cli {
namespace {

constexpr std::int64_t kMaxRows = protocol::kMaxQueryRows;

/// Unread messages first, then read ones; each part oldest first.
struct Inbox {
  std::vector<MessageRow> messages;
  std::set<std::int64_t> unread;  // keys
  [[nodiscard]] bool is_unread(const MessageRow& message) const { return unread.contains(message.key); }
};

Result<Inbox> inbox_of(DaemonConnection& connection, const json::object& filter, bool only_unread, std::int64_t limit) {
  const auto query_page = [&](bool unread) {
    auto query = filter;
    query["unreadOnly"] = unread;
    return newest_messages(connection, protocol::MessageType::Inbox, std::move(query), limit);
  };
  Inbox inbox{.messages = RELAY_TRY(query_page(true)), .unread = {}};
  for (const auto& message : inbox.messages) inbox.unread.insert(message.key);
  if (!only_unread)
    for (auto& message : RELAY_TRY(query_page(false)))
      if (!inbox.is_unread(message) && std::cmp_less(inbox.messages.size(), limit))
        inbox.messages.push_back(std::move(message));
  std::ranges::sort(inbox.messages, {},
                    [&](const MessageRow& each) { return std::pair{!inbox.is_unread(each), each.key}; });
  for (auto& message : inbox.messages) {
    if (message.to.empty()) message.to = string_member(filter, "agent").value_or("");
    message.raw["unread"] = inbox.is_unread(message);
  }
  return inbox;
}

/// Marks only the delivery to `name`. A delivery that a session is about to get stays unread.
Result<void> mark_read(DaemonConnection& connection, const MessageRow& message, const std::string& name) {
  const auto payload =
      RELAY_TRY(connection.request(protocol::MessageType::Trace, json::serialize(json::object{{"id", message.id}})));
  const auto trace = RELAY_TRY(parse_json_object(payload));
  for (const auto* delivery : objects_in(trace, "deliveries"))
    if (string_member(*delivery, "to") == name)
      RELAY_TRY(send_control(
          connection, {{"action", "read"}, {"deliveryId", string_member(*delivery, "deliveryId").value_or("")}}));
  return {};
}

ExitCode run(const Invocation& invocation, Context& context) {
  const auto limit = RELAY_CLI_USAGE(invocation.number("--limit", 1, kMaxRows, protocol::kDefaultInboxRows));
  const auto name = invocation.argument(0).empty() ? context.own_name() : invocation.argument(0);
  auto connection = RELAY_CLI_TRY(join_workspace(context));
  const auto inbox =
      RELAY_CLI_TRY(inbox_of(connection, {{"agent", name}, {"topic", invocation.value("--topic").value_or("")}},
                             invocation.has("--unread"), limit));
  if (inbox.messages.empty() && !invocation.argument(0).empty())
    if (const auto error = RELAY_CLI_TRY(unknown_agent_error(connection, name)); !error.empty())
      return report_error(error, ExitCode::Failed);
  if (invocation.has("--json")) {
    print_messages(inbox.messages, context, Shape::Json);
  } else {
    bool cut = false;
    for (const auto& message : inbox.messages)
      print((inbox.is_unread(message) ? context.paint(Color::Bold, "* ") : "  ") +
            message_line(message, context, 2, &cut));
    if (cut) print_read_hint(context);
    if (inbox.messages.empty()) print_notice(relay::format("the inbox of {} is empty", name));
  }
  if (invocation.has("--peek") || name != context.own_name()) return ExitCode::Ok;
  for (const auto& message : inbox.messages)
    if (inbox.is_unread(message)) RELAY_CLI_TRY(mark_read(connection, message, name));
  return ExitCode::Ok;
}

constexpr Argument kArguments[] = {{.name = "[NAME]",
                                    .arity = Arity::Optional,
                                    .description = "whose inbox; default $AGENT_RELAY_NAME, $USER or human",
                                    .completes = CompletionKind::Agents}};
constexpr Option kOptions[] = {
    {.name = "--unread", .description = "only messages that are not read or delivered yet"},
    {.name = "--topic", .value = "TOPIC", .description = "only messages about TOPIC"},
    {.name = "--peek", .description = "leave them unread"},
    {.name = "--limit", .value = "N", .description = "the newest N messages (default 50)"},
    kJsonOption,
};

}  // namespace

const Command kInbox = {
    .name = "inbox",
    .group = Group::Everyday,
    .usage = "inbox [NAME]",
    .summary = "show messages to NAME, or to you",
    .hint = "[--peek]",
    .arguments = kArguments,
    .options = kOptions,
    .example = "agent-relay inbox",
    .details =
        "Unread messages come first, marked with `*` (`unread` in JSON). Showing your own inbox marks its messages as\n"
        "read: the sender sees them as `seen`, and they are not delivered again. Showing another inbox changes\n"
        "nothing. A message that a connected session of yours (`chat`, an agent) is about to get stays unread until\n"
        "that session has it.",
    .needs_daemon = true,
    .run = run,
};

}  // namespace relay::cli
