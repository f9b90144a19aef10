#include "cli/render/cancel_result.h"

#include <algorithm>

#include "base/format.h"
#include "cli/render/text.h"
#include "cli/render/timeline.h"
#include "cli/render/times.h"
#include "cli/wire/json_fields.h"
#include "cli/wire/trace_watch.h"

namespace relay::cli {
namespace {

/// The first entry with the final state gives the time; a later one may have a reason.
CancelResult::TooLate ended(const json::object& delivery, std::string state) {
  CancelResult::TooLate late{string_member(delivery, "deliveryId").value_or(""),
                             string_member(delivery, "to").value_or(""),
                             std::move(state),
                             {},
                             0};
  for (const auto* entry : objects_in(delivery, "history")) {
    if (string_member(*entry, "state") != late.state) continue;
    if (late.at == 0) late.at = time_in(*entry, "at");
    if (auto reason = string_member(*entry, "reason").value_or(""); !reason.empty()) late.reason = std::move(reason);
  }
  return late;
}

std::string too_late_text(const CancelResult::TooLate& late, WallMs now) {
  const auto when = short_time(late.at, now);
  if (late.state == "delivered") return relay::format("too late: delivered to {} at {}", late.to, when);
  if (late.state == "in_doubt")
    return relay::format("too late: it may have reached {}; in doubt since {}{}{}", late.to, when,
                         late.reason.empty() ? "" : ": ", late.reason);
  return relay::format("too late: for {} it was {} at {}{}{}", late.to, late.state, when,
                       late.reason.empty() ? "" : ": ", late.reason);
}

}  // namespace

CancelResult cancel_result_of(const json::object& trace, const std::vector<std::string>& deliveries,
                              const std::map<std::string, std::string>& refused) {
  CancelResult outcome;
  for (const auto* delivery : objects_in(trace, "deliveries")) {
    const auto id = string_member(*delivery, "deliveryId").value_or("");
    if (std::ranges::find(deliveries, id) == deliveries.end()) continue;
    auto state = string_member(*delivery, "state").value_or("");
    const auto no = refused.find(id);
    if (state == "cancelled" && no == refused.end())  // by us; refused, it was before
      outcome.cancelled.push_back(id);
    else if (is_final_state(state))
      outcome.too_late.push_back(ended(*delivery, std::move(state)));
    else {
      outcome.requested.push_back(id);
      if (no != refused.end()) outcome.unreturnable.push_back(no->second);
    }
  }
  return outcome;
}

ExitCode exit_code_of(const CancelResult& result) {
  if (!result.too_late.empty()) return ExitCode::Failed;
  if (!result.unreturnable.empty()) return ExitCode::Refused;
  return result.requested.empty() ? ExitCode::Ok : ExitCode::TimedOut;
}

std::string success_text(const CancelResult& result, const std::string& id) {
  const auto count = result.cancelled.size();
  if (count == 0) return "";
  return relay::format("{} cancelled{}\n", sanitize(id, Lines::Join),
                       count == 1 ? "" : relay::format(", for {} recipients", count));
}

std::string error_text(const CancelResult& result, const std::string& id, WallMs now) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  for (const auto& late : result.too_late) add(too_late_text(late, now));
  for (const auto& error : result.unreturnable) add(error);
  if (const auto count = result.requested.size() - result.unreturnable.size(); count > 0)
    add(relay::format("cancellation requested{}; no response yet; see: agent-relay trace {}",
                      count == 1 ? "" : relay::format(", {} recipients", count), id));
  return text;
}

json::object as_json(const CancelResult& result, const std::string& error) {
  json::array too_late;
  for (const auto& late : result.too_late) {
    json::object one{{"deliveryId", late.delivery}, {"to", late.to}, {"state", late.state}, {"at", late.at}};
    if (!late.reason.empty()) one["reason"] = late.reason;
    too_late.emplace_back(std::move(one));
  }
  json::object all{{"cancelled", json::array(result.cancelled.begin(), result.cancelled.end())},
                   {"tooLate", std::move(too_late)},
                   {"requested", json::array(result.requested.begin(), result.requested.end())}};
  if (!error.empty()) all["error"] = json::object{{"code", error_code_name(exit_code_of(result))}, {"message", error}};
  return all;
}

}  // namespace relay::cli
