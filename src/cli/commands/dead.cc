/// `agent-relay dead`: undelivered messages, and their redelivery.
#include <algorithm>
#include <limits>

#include "base/format.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/framework/context.h"
#include "cli/framework/invocation.h"
#include "cli/render/times.h"
#include "cli/wire/control_request.h"
#include "cli/wire/json_fields.h"
#include "cli/wire/names.h"
#include "cli/wire/workspace.h"
#include "protocol/limits.h"

namespace relay::cli {
namespace {

constexpr std::size_t kMinDeadBody = 10;  // columns; with less room the body gets a separate line
constexpr std::size_t kDeadIndent = 4;

constexpr std::int64_t kDefaultRows = 50;
constexpr std::string_view kRedeliver = "redeliver";

bool is_dead(std::string_view state) {
  return state == "dead" || state == "failed" || state == "expired" || state == "in_doubt";
}

/// The newest `limit`, newest first, in as many pages as it takes.
Result<std::vector<json::object>> query_dead(DaemonConnection& connection, const std::string& agent,
                                             std::int64_t limit) {
  json::object query;
  if (!agent.empty()) query["agent"] = agent;
  std::vector<json::object> all;
  auto before = std::numeric_limits<std::int64_t>::max();
  while (std::cmp_less(all.size(), limit)) {
    query["limit"] = limit - static_cast<std::int64_t>(all.size());
    const auto payload = RELAY_TRY(connection.request(protocol::MessageType::Dead, json::serialize(query)));
    const auto answer = RELAY_TRY(parse_json_object(payload));
    if (const auto error = string_member(answer, "error")) return fail(Errc::Refused, "the daemon refused: " + *error);
    const auto* deliveries = array_member(answer, "deliveries");
    if (deliveries == nullptr)
      return fail(Errc::BadResponse, "the daemon's response has no deliveries; it may have another version");
    for (const auto* delivery : objects_in(answer, "deliveries")) all.push_back(*delivery);
    const auto oldest = all.empty() ? 0 : integer_member(all.back(), "key").value_or(0);
    if (!bool_member(answer, "more").value_or(false) || deliveries->empty() || oldest <= 0 || oldest >= before) break;
    query["beforeKey"] = before = oldest;
  }
  return all;
}

/// Two lines: the delivery, and the reason why it was not delivered.
std::string dead_text(const json::object& delivery, const Context& context) {
  const auto& paint = context.paint;
  const auto state = display_field(delivery, "state");
  const auto time = short_time(time_in(delivery, "at"), context.now());
  const auto head = relay::format("{}  {}  {:<8}  {} {} {}  ", time, display_field(delivery, "deliveryId"), state,
                                  display_field(delivery, "from"), marks().arrow, display_field(delivery, "to"));
  const bool narrow = display_width(head) + kMinDeadBody > context.columns;
  const auto room = context.columns - (narrow ? kDeadIndent : display_width(head));
  auto text = relay::format("{}  {}  {}  {} {} {}", paint(Color::Dim, time), display_field(delivery, "deliveryId"),
                            paint(state == "in_doubt" ? Color::Yellow : Color::Red, relay::format("{:<8}", state)),
                            paint.name(display_field(delivery, "from")), marks().arrow,
                            paint.name(display_field(delivery, "to")));
  if (narrow) text = fold(text, context.columns, kDeadIndent);
  text +=
      (narrow ? "\n" + std::string(kDeadIndent, ' ') : "  ") + truncate(display_field(delivery, "body"), room) + "\n";
  auto reason = display_field(delivery, "reason");
  if (reason.empty()) reason = "no reason given";
  if (const auto attempts = integer_member(delivery, "attempts").value_or(0); attempts > 1)
    reason += relay::format(" ({} attempts)", attempts);
  for (const auto& line : wrap(reason, context.columns - kDeadIndent))
    text += relay::format("    {}\n", paint(Color::Dim, line));
  return text;
}

ExitCode list(const Invocation& invocation, Context& context) {
  for (const auto* option : {"--all", "--in-doubt"})
    if (invocation.has(option))
      return report_error(relay::format("{} is an option of: agent-relay dead redeliver", option), ExitCode::Usage);
  const auto name = invocation.argument(0);
  const auto limit = RELAY_CLI_USAGE(invocation.number("--limit", 1, protocol::kMaxQueryRows, kDefaultRows));
  auto connection = RELAY_CLI_TRY(join_workspace(context));
  const auto deliveries = RELAY_CLI_TRY(query_dead(connection, name, limit));
  if (deliveries.empty() && !name.empty())
    if (const auto error = RELAY_CLI_TRY(unknown_agent_error(connection, name)); !error.empty())
      return report_error(error, ExitCode::Failed);
  if (invocation.has("--json")) {
    print(json::serialize(json::object{{"deliveries", json::array(deliveries.begin(), deliveries.end())}}) + "\n");
    return ExitCode::Ok;
  }
  for (const auto& delivery : deliveries) print(dead_text(delivery, context));
  if (deliveries.empty()) {
    print_notice("no undelivered messages: all are delivered or pending");
  } else {
    const bool any_in_doubt = std::ranges::any_of(
        deliveries, [](const json::object& delivery) { return display_field(delivery, "state") == "in_doubt"; });
    print_notice(relay::format(
        "redeliver one with: agent-relay dead redeliver ID; all with: agent-relay dead redeliver --all{}",
        any_in_doubt
            ? "; also those in doubt, which may then arrive twice, with: agent-relay dead redeliver --all --in-doubt"
            : ""));
  }
  return ExitCode::Ok;
}

/// Redelivered messages by their new ids; of very many only the first.
struct Redelivered {
  std::int64_t count = 0;
  std::vector<std::string> ids;

  void add(const ControlResponse& response) {
    count += response.count();
    if (const auto* fresh = array_member(response.result, "deliveryIds"))
      for (const auto& id : *fresh)
        if (const auto* text = id.if_string()) ids.emplace_back(*text);
  }
};

void print_redelivered(const Redelivered& redelivered, bool as_json) {
  if (as_json)
    return print(
        json::serialize(json::object{{"count", redelivered.count},
                                     {"deliveryIds", json::array(redelivered.ids.begin(), redelivered.ids.end())}}) +
        "\n");
  for (const auto& id : redelivered.ids) print(relay::format("redelivered as {}\n", sanitize(id, Lines::Join)));
  if (const auto listed = static_cast<std::int64_t>(redelivered.ids.size()); redelivered.count > listed)
    print(relay::format("and {} more\n", redelivered.count - listed));
}

ExitCode redeliver(const Invocation& invocation, Context& context) {
  const bool all = invocation.has("--all");
  if (invocation.has("--in-doubt") && !all)
    return report_error("--in-doubt needs --all; redeliver a single delivery by its id", ExitCode::Usage);
  if (!all && invocation.argument_count() < 2)
    return report_error("dead redeliver needs an ID or --all; list the ids with: agent-relay dead", ExitCode::Usage);
  if (all && invocation.argument_count() > 2)
    return report_error("--all takes at most one name: agent-relay dead redeliver --all Bob", ExitCode::Usage);
  auto connection = RELAY_CLI_TRY(join_workspace(context));
  Redelivered redelivered;
  if (all) {
    json::object request = {{"action", kRedeliver}, {"all", true}};
    if (invocation.argument_count() == 2) request["agent"] = invocation.argument(1);
    if (invocation.has("--in-doubt")) request["states"] = json::array{"dead", "failed", "expired", "in_doubt"};
    const auto done = RELAY_CLI_TRY(send_control(connection, request));
    if (done.refusal) return report_error(*done.refusal);
    redelivered.add(done);
    if (redelivered.count == 0)
      print_notice(invocation.has("--in-doubt") ? "nothing to redeliver"
                                                : "nothing to redeliver; include deliveries in doubt with --in-doubt");
  }
  for (std::size_t i = 1; !all && i < invocation.argument_count(); ++i)
    for (const auto& delivery : RELAY_CLI_TRY(
             resolve_deliveries(connection, invocation.argument(i), is_dead, "is dead, failed, expired or in doubt"))) {
      const auto done = RELAY_CLI_TRY(send_control(connection, {{"action", kRedeliver}, {"deliveryId", delivery}}));
      if (done.refusal) {
        if (!invocation.has("--json")) print_redelivered(redelivered, false);
        return report_error(*done.refusal);
      }
      redelivered.add(done);
    }
  print_redelivered(redelivered, invocation.has("--json"));
  return ExitCode::Ok;
}

ExitCode run(const Invocation& invocation, Context& context) {
  if (invocation.argument(0) == kRedeliver) return redeliver(invocation, context);
  if (invocation.argument_count() > 1)
    return report_error("dead takes one name, or: agent-relay dead redeliver ID", ExitCode::Usage);
  return list(invocation, context);
}

constexpr Argument kArguments[] = {
    {.name = "[NAME]",
     .arity = Arity::Any,
     .description = "only deliveries to NAME; or: redeliver ID..., redeliver --all [NAME]",
     .completes = CompletionKind::Agents},
};
constexpr Option kOptions[] = {
    {.name = "--all", .description = "redeliver: all dead, failed and expired deliveries"},
    {.name = "--in-doubt", .description = "with --all: also those in doubt, which may arrive twice"},
    {.name = "--limit", .value = "N", .description = "the newest N (default 50)"},
    kJsonOption,
};

}  // namespace

const Command kDead = {
    .name = "dead",
    .group = Group::Control,
    .usage = "dead [NAME]",
    .summary = "list and redeliver undelivered messages",
    .hint = "[redeliver]",
    .arguments = kArguments,
    .options = kOptions,
    .example = "agent-relay dead redeliver d-7kq2m9xa",
    .details =
        "Lists deliveries that failed, expired, used up their attempts, or are in doubt (the agent may or may not\n"
        "have the message), with the reason. `dead redeliver` sends the message again as a new delivery, by the\n"
        "id of the delivery (d-...) or of the message.",
    .needs_daemon = true,
    .run = run,
};

}  // namespace relay::cli
