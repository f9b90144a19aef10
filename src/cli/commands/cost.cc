/// `agent-relay cost`
#include "base/format.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/framework/context.h"
#include "cli/framework/invocation.h"
#include "cli/render/cost_table.h"
#include "cli/wire/json_fields.h"
#include "cli/wire/workspace.h"
#include "daemon/private_file.h"
#include "events/costs.h"

namespace relay::cli {
namespace {

/// The built-in prices and the user's own file. A file that cannot be used is reported and ignored.
events::CostModels models_of(const Context& context) {
  const events::CostModels builtin;
  const auto path = context.home.root + "/cost-models.json";
  bool exists = false;
  const auto text = daemon::read_small_file(path, exists);
  if (text && !exists) return builtin;
  auto models = text ? builtin.with_file(*text) : Result<events::CostModels>{Failure{text.error()}};
  if (models) return *std::move(models);
  print_notice(relay::format("{}: {}; using the built-in prices", path, models.error().message()));
  return builtin;
}

Result<events::CostReport> report(DaemonConnection& connection, const json::object& query, const Context& context) {
  const auto payload = RELAY_TRY(connection.request(protocol::MessageType::UsageQuery, json::serialize(query)));
  const auto answer = RELAY_TRY(parse_json_object(payload));
  if (const auto error = string_member(answer, "error")) return fail(Errc::Refused, "the daemon refused: " + *error);
  const auto models = models_of(context);
  events::CostAggregator sums{models};
  for (const auto* row : objects_in(answer, "usage")) {
    const auto count = [&](std::string_view name) { return integer_member(*row, name).value_or(0); };
    sums.add({.agent = string_member(*row, "agent").value_or(""),
              .model = string_member(*row, "model").value_or(""),
              .session = string_member(*row, "session").value_or(""),
              .thread = string_member(*row, "thread").value_or(""),
              .input = count("input"),
              .output = count("output"),
              .cache_read = count("cacheRead"),
              .cache_write = count("cacheWrite"),
              .reasoning = count("reasoning"),
              .reported_cost_usd = number_member(*row, "cost")});
  }
  if (bool_member(answer, "more").value_or(false))
    print_notice("the result is incomplete: it exceeds one response; narrow it with --agent or --since");
  return sums.report();
}

ExitCode run(const Invocation& invocation, Context& context) {
  json::object query;
  if (invocation.has("--since"))
    query["sinceTs"] = context.now() - RELAY_CLI_USAGE(invocation.duration("--since", Millis{0})).count();
  if (const auto agent = invocation.value("--agent")) query["agent"] = *agent;
  auto connection = RELAY_CLI_TRY(join_workspace(context));
  const auto costs = RELAY_CLI_TRY(report(connection, query, context));
  if (invocation.has("--json")) {
    print(json::serialize(schema::write(costs)) + "\n");
    return ExitCode::Ok;
  }
  if (costs.total.total_tokens == 0) {
    print_notice("no tokens recorded");
    return ExitCode::Ok;
  }
  const auto by = invocation.value("--by").value_or("agent");
  const auto& groups = by == "model"     ? costs.by_model
                       : by == "session" ? costs.by_session
                       : by == "thread"  ? costs.by_thread
                                         : costs.by_agent;
  print(cost_table(by, groups, costs.total, context.paint, context.width()));
  if (!costs.unpriced.empty()) {
    std::string names;
    for (const auto& name : costs.unpriced) names += (names.empty() ? "" : ", ") + sanitize(name, Lines::Join);
    print_notice(relay::format("no price for {}; add one to {}/cost-models.json", names, context.home.root));
  }
  return ExitCode::Ok;
}

constexpr Option kOptions[] = {
    {.name = "--since", .value = "TIME", .description = "only the last 10m, 2h, 7d"},
    {.name = "--agent", .value = "NAME", .description = "only tokens of NAME", .completes = CompletionKind::Agents},
    {.name = "--by",
     .value = "WHAT",
     .description = "group by (default agent)",
     .choices = "agent|model|session|thread"},
    {.name = "--json", .description = "print JSON"},
};

}  // namespace

const Command kCost = {
    .name = "cost",
    .group = Group::Inspect,
    .usage = "cost",
    .summary = "show tokens used, and their cost",
    .hint = "[--by WHAT]",
    .options = kOptions,
    .example = "agent-relay cost --since 24h --by model",
    .details =
        "Tokens come from the agents' own transcripts; each response counts once. To replace the built-in\n"
        "prices, write cost-models.json in ~/.agent-relay. A cost that the agent itself reports takes precedence.",
    .needs_daemon = true,
    .run = run,
};

}  // namespace relay::cli
