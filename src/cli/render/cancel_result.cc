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

/// When it ended, and why: more may have been proved of it since.
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

std::string sentence_on(const CancelResult::TooLate& late, WallMs now) {
  const auto when = short_time(late.at, now);
  if (late.state == "delivered") return relay::format("too late: delivered to {} at {}", late.to, when);
  return relay::format("too late: for {} it was {} at {}{}{}", late.to,
                       late.state == "in_doubt" ? "in doubt" : late.state, when, late.reason.empty() ? "" : ": ",
                       late.reason);
}

}  // namespace

CancelResult cancelling_of(const json::object& trace, const std::vector<std::string>& deliveries,
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
      outcome.asked.push_back(id);
      if (no != refused.end()) outcome.kept.push_back(no->second);
    }
  }
  return outcome;
}

ExitCode ending_of(const CancelResult& cancelling) {
  if (!cancelling.too_late.empty()) return ExitCode::Failed;
  if (!cancelling.kept.empty()) return ExitCode::Refused;
  return cancelling.asked.empty() ? ExitCode::Ok : ExitCode::TimedOut;
}

std::string success_of(const CancelResult& cancelling, const std::string& id) {
  const auto count = cancelling.cancelled.size();
  if (count == 0) return "";
  return relay::format("{} cancelled{}\n", sanitize(id, Lines::Join),
                       count == 1 ? "" : relay::format(", for {} recipients", count));
}

std::string error_with(const CancelResult& cancelling, const std::string& id, WallMs now) {
  std::string text;
  const auto add = [&](const std::string& sentence) { text += (text.empty() ? "" : "; ") + sentence; };
  for (const auto& late : cancelling.too_late) add(sentence_on(late, now));
  for (const auto& sentence : cancelling.kept) add(sentence);
  if (const auto count = cancelling.asked.size() - cancelling.kept.size(); count > 0)
    add(relay::format("asked to give it back{}; no answer yet: agent-relay trace {}",
                      count == 1 ? "" : relay::format(", {} recipients", count), id));
  return text;
}

json::object as_json(const CancelResult& cancelling, const std::string& trouble) {
  json::array too_late;
  for (const auto& late : cancelling.too_late) {
    json::object one{{"deliveryId", late.delivery}, {"to", late.to}, {"state", late.state}, {"at", late.at}};
    if (!late.reason.empty()) one["reason"] = late.reason;
    too_late.emplace_back(std::move(one));
  }
  json::object all{{"cancelled", json::array(cancelling.cancelled.begin(), cancelling.cancelled.end())},
                   {"tooLate", std::move(too_late)},
                   {"asked", json::array(cancelling.asked.begin(), cancelling.asked.end())}};
  if (!trouble.empty())
    all["error"] = json::object{{"code", error_code_name(ending_of(cancelling))}, {"message", trouble}};
  return all;
}

}  // namespace relay::cli
