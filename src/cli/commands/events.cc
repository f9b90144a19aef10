/// `agent-relay events`
#include <unistd.h>

#include <charconv>
#include <ranges>
#include <vector>

#include "base/comma_list.h"
#include "base/format.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/framework/context.h"
#include "cli/framework/invocation.h"
#include "cli/render/event_line.h"
#include "cli/render/times.h"
#include "cli/wire/follow.h"
#include "cli/wire/json_fields.h"
#include "cli/wire/workspace.h"
#include "events/event.h"
#include "protocol/limits.h"

namespace relay::cli {
namespace {

using protocol::MessageType;

constexpr std::int64_t kDefaultRows = 50;
constexpr std::chrono::hours kForever{24 * 365};

json::array split_at_commas(std::string_view text) {
  const auto parts = comma_list(text);
  return json::array(parts.begin(), parts.end());
}

/// `#42`: after that number; else a time ago, as in `10m`.
struct Since {
  std::int64_t number = -1;
  WallMs time = 0;
};
Result<Since> since_in(const Invocation& invocation, const Context& context) {
  const auto text = invocation.value("--since");
  if (!text) return Since{};
  if (text->starts_with('#')) {
    std::int64_t number = 0;
    const auto [end, problem] = std::from_chars(text->data() + 1, text->data() + text->size(), number);
    if (problem != std::errc{} || end != text->data() + text->size() || number < 0)
      return fail(relay::format("--since cannot be \"{}\": give the number of an event as #42", *text));
    return Since{.number = number};
  }
  const auto ago = parse_duration(*text);
  if (!ago)
    return fail(relay::format(
        "--since cannot be \"{}\": give a duration such as 10m or 2h, or the number of an event such as #42", *text));
  return Since{.time = context.now() - ago->count()};
}

class EventLog {
 public:
  EventLog(const Context& context, json::object filter, std::string topic, bool json)
      : context_{context}, filter_{std::move(filter)}, topic_{std::move(topic)}, json_{json} {}

  /// Prints all events after `since`, or the newest `limit`. Returns their number.
  Result<std::size_t> print_past(DaemonConnection& connection, const Since& since, std::int64_t limit) {
    const bool newest = since.number < 0 && since.time == 0;
    if (limit == 0) {  // no past events, only the position to follow from
      const auto payload = RELAY_TRY(connection.request(MessageType::EventsQuery, R"({"newest":true,"limit":1})"));
      const auto answer = RELAY_TRY(parse_json_object(payload));
      position_ = since.number >= 0 ? since.number : integer_member(answer, "newest").value_or(0);
      return std::size_t{0};
    }
    auto query = filter_;
    if (since.number >= 0) query["after"] = since.number;
    if (since.time > 0) query["sinceTs"] = since.time;
    if (newest) query["newest"] = true;
    std::size_t printed = 0;
    std::vector<json::object> found;  // the newest first
    for (auto left = limit; left > 0;) {
      query["limit"] = std::min<std::int64_t>(left, protocol::kMaxQueryRows);
      const auto payload = RELAY_TRY(connection.request(MessageType::EventsQuery, json::serialize(query)));
      const auto answer = RELAY_TRY(parse_json_object(payload));
      if (const auto error = string_member(answer, "error"))
        return fail(Errc::Refused, "the daemon refused: " + *error);
      auto events = objects_in(answer, "events");
      std::erase_if(events, [&](const auto* event) { return !matches_topic(*event); });
      for (const auto* event : events)
        if (!newest) show(*event);
      if (newest)
        for (const auto* event : events | std::views::reverse) found.push_back(*event);
      printed += events.size();
      left -= static_cast<std::int64_t>(events.size());
      position_ = std::max(position_, integer_member(answer, "nextAfter").value_or(0));
      const auto from = integer_member(answer, "nextBefore").value_or(0);
      if (!bool_member(answer, "more").value_or(false) || (newest && from <= 1)) break;
      if (newest)
        query["before"] = from;
      else
        query["after"] = position_;
    }
    for (const auto& event : found | std::views::reverse) show(event);
    return printed;
  }

  Error follow(DaemonConnection& connection) {
    connection.watch_output(STDOUT_FILENO);
    auto subscription = filter_;
    subscription["since"] = position_;
    if (const auto sent =
            connection.send({.type = MessageType::EventsSubscribe, .id = {}, .payload = json::serialize(subscription)});
        !sent)
      return sent.error();
    for (;;) {
      const auto frame = connection.receive(in(kForever));
      if (!frame) return frame.error();
      if (frame->envelope.type == MessageType::Bye) return bye_reason(frame->envelope);
      if (frame->envelope.type != MessageType::AgentEvent) continue;
      const auto payload = parse_json_object(frame->envelope.payload);
      const auto* event = payload ? object_member(*payload, "event") : nullptr;
      const auto number = event == nullptr ? 0 : integer_member(*event, "_seq").value_or(0);
      if (number <= position_) continue;  // events that are not stored (log) have none
      position_ = number;
      if (matches_topic(*event)) show(*event);
    }
  }

 private:
  void show(const json::object& event) const {
    print(json_ ? json::serialize(event) + "\n" : event_line(event, context_));
  }

  [[nodiscard]] bool matches_topic(const json::object& event) const {
    return topic_.empty() || string_member(event, "topic") == topic_;
  }

  const Context& context_;
  json::object filter_;
  std::string topic_;  // empty: any
  bool json_;
  std::int64_t position_ = 0;
};

ExitCode run(const Invocation& invocation, Context& context) {
  const auto limit =
      RELAY_CLI_USAGE(invocation.number("--limit", 0, INT32_MAX, invocation.has("--since") ? INT32_MAX : kDefaultRows));
  const auto since = RELAY_CLI_USAGE(since_in(invocation, context));
  json::object filter;
  if (const auto types = invocation.value("--types")) {
    filter["types"] = split_at_commas(*types);
    for (const auto& type : filter["types"].as_array()) RELAY_CLI_USAGE(events::check_type(type.as_string()));
  }
  const auto topic = invocation.value("--topic");
  if (topic && !filter.contains("types")) filter["types"] = json::array{"message"};  // others have none
  if (const auto agent = invocation.value("--agent")) filter["agents"] = json::array{*agent};
  if (const auto session = invocation.value("--session")) filter["sessions"] = json::array{*session};
  auto connection = RELAY_CLI_TRY(join_workspace(context));
  EventLog log{context, std::move(filter), topic.value_or(""), invocation.has("--json")};
  const auto printed = RELAY_CLI_TRY(log.print_past(connection, since, limit));
  if (invocation.has("--follow"))
    return follow([&](DaemonConnection& daemon) { return log.follow(daemon); }, std::move(connection), context);
  if (printed == 0 && !invocation.has("--json")) print_notice("no matching events");
  return ExitCode::Ok;
}

constexpr Option kOptions[] = {
    {.name = "--follow", .description = "keep printing new events"},
    {.name = "--types", .value = "T,...", .description = "only these types (item.started) or groups (item)"},
    {.name = "--agent", .value = "NAME", .description = "only events of NAME", .completes = CompletionKind::Agents},
    {.name = "--topic", .value = "TOPIC", .description = "only messages about TOPIC"},
    {.name = "--session", .value = "ID", .description = "only events of one session"},
    {.name = "--since", .value = "WHEN", .description = "all events of the last 10m or 2h, or after an event: #42"},
    {.name = "--limit", .value = "N", .description = "at most N (default: the newest 50, or all since)"},
    {.name = "--json", .description = "print one JSON object per line"},
};

}  // namespace

const Command kEvents = {
    .name = "events",
    .group = Group::Inspect,
    .usage = "events",
    .summary = "show what agents do, as it happens",
    .hint = "[--follow]",
    .options = kOptions,
    .example = "agent-relay events --follow --types item,permission --agent Alice",
    .details =
        "Sessions, work, prompts, tokens, messages and deliveries, numbered without gaps (docs/spec/events.md). With\n"
        "--follow, a restart of the daemon neither loses nor repeats an event.",
    .needs_daemon = true,
    .run = run,
};

}  // namespace relay::cli
