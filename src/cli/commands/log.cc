/// `agent-relay log [NAME]`
#include <unistd.h>

#include <map>

#include "base/format.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/framework/context.h"
#include "cli/framework/invocation.h"
#include "cli/wire/follow.h"
#include "cli/wire/message.h"
#include "cli/wire/names.h"
#include "cli/wire/workspace.h"
#include "protocol/limits.h"
#include "records/short_id.h"

namespace relay::cli {
namespace {

constexpr std::int64_t kDefaultRows = 20;
constexpr std::chrono::hours kForever{24 * 365};

/// The conversation in the order of the daemon's keys. Each message is printed once, even after a reconnect.
class Conversation {
 public:
  Conversation(const Invocation& invocation, const Context& context)
      : context_{context},
        name_{invocation.argument(0)},
        topic_{invocation.value("--topic").value_or("")},
        json_{invocation.has("--json")} {}

  /// Prints the newest `limit` messages; everything up to the newest key counts as printed. Returns their number.
  Result<std::size_t> print_past(DaemonConnection& connection, std::int64_t limit) {
    using protocol::MessageType;
    last_event_ = RELAY_TRY(newest_event(connection));  // first: later messages have later events
    for (const auto& message : RELAY_TRY(newest_messages(connection, MessageType::MessagesQuery, {}, 1)))
      last_key_ = message.key;
    std::map<std::int64_t, MessageRow> found;
    const auto collect = [&](MessageType type, json::object query) -> Result<void> {
      for (auto& message : RELAY_TRY(newest_messages(connection, type, std::move(query), limit)))
        if (message.key <= last_key_) found.insert_or_assign(message.key, std::move(message));
      return {};
    };
    // Everything, or the messages to and from NAME.
    if (!name_.empty()) RELAY_TRY(collect(MessageType::Inbox, {{"agent", name_}, {"topic", topic_}}));
    RELAY_TRY(collect(MessageType::MessagesQuery, {{"from", name_}, {"topic", topic_}}));
    while (std::cmp_greater(found.size(), limit)) found.erase(found.begin());
    for (const auto& [key, message] : found) show(message);
    if (cut_) print_read_hint(context_);
    return found.size();
  }

  /// Prints new messages. Returns only when the connection is lost.
  Error follow(DaemonConnection& connection) {
    connection.watch_output(STDOUT_FILENO);
    const json::object subscription = {{"types", json::array{"message"}}, {"since", last_event_}};
    if (auto sent = connection.send(
            {.type = protocol::MessageType::EventsSubscribe, .id = {}, .payload = json::serialize(subscription)});
        !sent)
      return sent.error();
    for (;;) {
      const auto frame = connection.receive(in(kForever));
      if (!frame) return frame.error();
      if (frame->envelope.type == protocol::MessageType::Bye) return bye_reason(frame->envelope);
      if (frame->envelope.type != protocol::MessageType::AgentEvent || !is_new_message(frame->envelope.payload))
        continue;
      if (const auto printed = print_new(connection); !printed) return printed.error();
    }
  }

 private:
  [[nodiscard]] bool matches(const MessageRow& message) const {
    if (!topic_.empty() && message.topic != topic_) return false;
    return name_.empty() || message.from == name_ || message.to == name_ || message.to == "*";
  }

  static Result<std::int64_t> newest_event(DaemonConnection& connection) {
    const auto answer =
        RELAY_TRY(connection.request(protocol::MessageType::EventsQuery, R"({"newest":true,"limit":1})"));
    return integer_member(RELAY_TRY(parse_json_object(answer)), "newest").value_or(0);
  }

  /// The event is of a message that is not printed yet.
  bool is_new_message(std::string_view payload) {
    const auto parsed = parse_json_object(payload);
    const auto* event = parsed ? object_member(*parsed, "event") : nullptr;
    if (event == nullptr) return false;
    last_event_ = std::max(last_event_, integer_member(*event, "_seq").value_or(0));
    const auto key = records::key_of_short_id(string_member(*event, "id").value_or(""));
    return key && key->value() > last_key_;
  }

  /// Events have the text redacted and truncated; the stored messages have it whole.
  Result<void> print_new(DaemonConnection& connection) {
    for (bool more = true; more;) {
      const json::object query = {{"afterKey", last_key_}, {"order", "asc"}, {"limit", protocol::kMaxQueryRows}};
      const auto answer = RELAY_TRY(connection.request(protocol::MessageType::MessagesQuery, json::serialize(query)));
      const auto page = RELAY_TRY(parse_page(answer));
      more = page.more && !page.messages.empty();
      for (const auto& message : page.messages) {
        if (message.key <= last_key_) continue;
        last_key_ = message.key;
        if (matches(message)) show(message);
      }
    }
    return {};
  }

  void show(const MessageRow& message) {
    print(json_ ? json::serialize(message.raw) + "\n" : message_line(message, context_, 0, &cut_));
  }

  const Context& context_;
  std::string name_, topic_;
  bool json_;
  bool cut_ = false;  // a body was truncated
  std::int64_t last_key_ = 0;
  std::int64_t last_event_ = 0;
};

ExitCode run(const Invocation& invocation, Context& context) {
  const auto limit = RELAY_CLI_USAGE(invocation.number("--limit", 0, protocol::kMaxQueryRows, kDefaultRows));
  auto connection = RELAY_CLI_TRY(join_workspace(context));
  Conversation conversation{invocation, context};
  const auto printed = RELAY_CLI_TRY(conversation.print_past(connection, limit));
  const auto name = invocation.argument(0);
  if (printed == 0 && !name.empty())
    if (const auto error = RELAY_CLI_TRY(unknown_agent_error(connection, name)); !error.empty()) {
      if (!invocation.has("--follow")) return report_error(error, ExitCode::Failed);
      print_notice(error);  // the agent may join later
    }
  if (!invocation.has("--follow")) return ExitCode::Ok;
  return follow([&](DaemonConnection& daemon) { return conversation.follow(daemon); }, std::move(connection), context);
}

constexpr Argument kArguments[] = {{.name = "[NAME]",
                                    .arity = Arity::Optional,
                                    .description = "only messages from or to NAME",
                                    .completes = CompletionKind::Agents}};
constexpr Option kOptions[] = {
    {.name = "--follow", .description = "keep printing new messages"},
    {.name = "--topic", .value = "TOPIC", .description = "only messages about TOPIC"},
    {.name = "--limit", .value = "N", .description = "start with the newest N messages (default 20)"},
    {.name = "--json", .description = "print one JSON object per line"},
};

}  // namespace

const Command kLog = {
    .name = "log",
    .group = Group::Everyday,
    .usage = "log [NAME]",
    .summary = "show the message log",
    .hint = "[--follow]",
    .arguments = kArguments,
    .options = kOptions,
    .example = "agent-relay log --follow",
    .details = "With --follow, a restart of the daemon neither loses nor repeats a message.",
    .needs_daemon = true,
    .run = run,
};

}  // namespace relay::cli
