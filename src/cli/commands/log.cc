/// `agent-relay log [NAME]`
#include <unistd.h>

#include <map>
#include <thread>

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

constexpr std::int64_t kDefaultRows = 20;
constexpr std::chrono::milliseconds kFirstRetry{100}, kLongestRetry{2'000};
constexpr std::chrono::hours kForever{24 * 365};

/// The conversation, in the order of the daemon's keys: each line once, whatever happens to the connection.
class Conversation {
 public:
  Conversation(const Invocation& invocation, const Context& context)
      : context_{context}, name_{invocation.argument(0)}, json_{invocation.has("--json")} {}

  /// The newest `limit` messages, and everything up to the newest key counts as printed. How many there were.
  Result<std::size_t> print_past(Connection& connection, std::int64_t limit) {
    using protocol::MessageType;
    for (const auto& message : RELAY_TRY(newest_messages(connection, MessageType::MessagesQuery, {}, 1)))
      last_key_ = message.key;
    std::map<std::int64_t, Message> found;
    const auto gather = [&](MessageType type, json::object query) -> Result<void> {
      for (auto& message : RELAY_TRY(newest_messages(connection, type, std::move(query), limit)))
        if (message.key <= last_key_) found.insert_or_assign(message.key, std::move(message));
      return {};
    };
    // Everything, or what NAME heard and said.
    if (!name_.empty()) RELAY_TRY(gather(MessageType::Inbox, {{"agent", name_}}));
    RELAY_TRY(gather(MessageType::MessagesQuery, name_.empty() ? json::object{} : json::object{{"from", name_}}));
    while (std::cmp_greater(found.size(), limit)) found.erase(found.begin());
    for (const auto& [key, message] : found) show(message);
    return found.size();
  }

  /// Prints what is said from now on. Returns only when the connection is lost.
  Error follow(Connection& connection) {
    connection.end_with(STDOUT_FILENO);
    const json::object wish = {{"types", json::array{"message"}}, {"sinceKey", last_key_}};
    if (auto sent = connection.send(
            {.type = protocol::MessageType::EventsSubscribe, .id = {}, .payload = json::serialize(wish)});
        !sent)
      return sent.error();
    for (;;) {
      const auto frame = connection.receive(in(kForever));
      if (!frame) return frame.error();
      if (frame->envelope.type == protocol::MessageType::Bye) return Error{{}, "the daemon said goodbye"};
      if (frame->envelope.type != protocol::MessageType::AgentEvent) continue;
      if (auto event = parse_json_object(frame->envelope.payload)) take(*event);
    }
  }

 private:
  [[nodiscard]] bool concerns(const Message& message) const {
    return name_.empty() || message.from == name_ || message.to == name_ || message.to == "*";
  }

  void take(json::object& event) {
    if (string_member(event, "type") != "message.stored") return;
    const auto key = integer_member(event, "key").value_or(0);
    const auto* raw = object_member(event, "message");
    if (raw == nullptr || key <= last_key_) return;
    auto message = message_from(*raw);
    message.key = key;
    message.raw["key"] = key;
    last_key_ = key;
    if (concerns(message)) show(message);
  }

  void show(const Message& message) const {
    print(json_ ? json::serialize(message.raw) + "\n" : message_line(message, context_));
  }

  const Context& context_;
  std::string name_;
  bool json_;
  std::int64_t last_key_ = 0;
};

ExitCode follow_for_ever(Conversation& conversation, Connection connection, const Context& context) {
  for (;;) {
    const auto why = conversation.follow(connection);
    if (is(why, Errc::Refused)) return complain(why);
    if (is(why, Errc::NobodyReads)) return ExitCode::No;
    remark("the daemon went away; waiting for it to come back");
    auto pause = kFirstRetry;
    for (;;) {
      auto again = join_workspace(context);
      if (again) {
        connection = *std::move(again);
        break;
      }
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 2, kLongestRetry);
    }
    remark("the daemon is back");
  }
}

ExitCode run(const Invocation& invocation, Context& context) {
  const auto limit = RELAY_CLI_USAGE(invocation.number("--limit", 0, protocol::kMaxQueryRows, kDefaultRows));
  auto connection = RELAY_CLI_TRY(join_workspace(context));
  Conversation conversation{invocation, context};
  const auto printed = RELAY_CLI_TRY(conversation.print_past(connection, limit));
  const auto name = invocation.argument(0);
  if (printed == 0 && !name.empty())
    if (const auto sentence = RELAY_CLI_TRY(sentence_about_stranger(connection, name)); !sentence.empty()) {
      if (!invocation.has("--follow")) return complain(sentence, ExitCode::No);
      remark(sentence);  // who is not here yet may come
    }
  if (!invocation.has("--follow")) return ExitCode::Yes;
  return follow_for_ever(conversation, std::move(connection), context);
}

constexpr Argument kArguments[] = {{.name = "[NAME]",
                                    .arity = Arity::Optional,
                                    .description = "only what NAME said and heard",
                                    .completes = Completes::Agents}};
constexpr Option kOptions[] = {
    {.name = "--follow", .description = "go on printing what is said"},
    {.name = "--limit", .value = "N", .description = "begin with the newest N messages (default 20)"},
    {.name = "--json", .description = "print one JSON object per line"},
};

}  // namespace

const Command kLog = {
    .name = "log",
    .group = Group::Everyday,
    .usage = "log [NAME]",
    .summary = "the conversation so far",
    .hint = "[--follow]",
    .arguments = kArguments,
    .options = kOptions,
    .example = "agent-relay log Alice --follow",
    .details = "While following, a daemon that restarts costs neither a line nor a repetition.",
    .run = run,
};

}  // namespace relay::cli
