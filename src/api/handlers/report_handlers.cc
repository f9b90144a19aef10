#include "api/handlers/handlers.h"
#include "base/comma_list.h"
#include "events/costs.h"

namespace relay::api {
namespace {

using protocol::MessageType;

constexpr std::int64_t kMaxRows = 1'000;
constexpr std::int64_t kMaxInt64 = std::numeric_limits<std::int64_t>::max();

json::array json_array_of(std::string_view list) {
  const auto names = comma_list(list);
  return json::array(names.begin(), names.end());
}

void add_usage(events::CostAggregator& sums, const json::object& row) {
  const auto count = [&](std::string_view name) { return integer_member(row, name).value_or(0); };
  sums.add({.agent = string_member(row, "agent").value_or(""),
            .model = string_member(row, "model").value_or(""),
            .session = string_member(row, "session").value_or(""),
            .thread = string_member(row, "thread").value_or(""),
            .input = count("input"),
            .output = count("output"),
            .cache_read = count("cacheRead"),
            .cache_write = count("cacheWrite"),
            .reasoning = count("reasoning"),
            .reported_cost_usd = number_member(row, "cost")});
}

struct Number {
  std::string_view name, wire;
  std::int64_t min, max;
};
ApiResult<void> add_numbers(json::object& query, const Call& call, std::initializer_list<Number> numbers) {
  for (const auto& [name, wire, min, max] : numbers) {
    const auto number = call.number(name, min, max);
    if (!number) return std::unexpected{number.error()};
    if (*number) query[wire] = **number;
  }
  return {};
}

}  // namespace

void list_events(Api&, WorkspaceHandle workspace, Call call) {
  json::object query;
  const auto numbers = add_numbers(query, call,
                                   {{"limit", "limit", 1, kMaxRows},
                                    {"offset", "after", 0, kMaxInt64},
                                    {"since", "sinceTs", 0, kMaxInt64},
                                    {"until", "untilTs", 0, kMaxInt64}});
  if (!numbers) return call.refuse(numbers.error());
  for (const auto& [name, wire] :
       {std::pair{"types", "types"}, std::pair{"agent", "agents"}, std::pair{"session", "sessions"}})
    if (const auto list = call.text(name); !list.empty()) query[wire] = json_array_of(list);
  if (call.text("newest") == "true") query["newest"] = true;
  send_request(workspace.client, MessageType::EventsQuery, std::move(query), std::move(call),
               [](Call reply, const json::object& response) { reply.answer(200, response); });
}

void report_costs(Api& api, WorkspaceHandle workspace, Call call) {
  json::object query;
  const auto numbers =
      add_numbers(query, call, {{"since", "sinceTs", 0, kMaxInt64}, {"until", "untilTs", 0, kMaxInt64}});
  if (!numbers) return call.refuse(numbers.error());
  for (const auto* name : {"agent", "session"})
    if (const auto text = call.text(name); !text.empty()) query[name] = text;
  send_request(workspace.client, MessageType::UsageQuery, std::move(query), std::move(call),
               [&api](Call reply, const json::object& response) {
                 const auto models = api.facts.prices();
                 events::CostAggregator sums{models};
                 if (const auto* rows = array_member(response, "usage"))
                   for (const auto& row : *rows)
                     if (const auto* object = row.if_object()) add_usage(sums, *object);
                 reply.answer(200, sums.report());
               });
}

}  // namespace relay::api
