#include "cli/render/send_progress.h"

#include "base/format.h"
#include "cli/render/times.h"
#include "host/control/host_record.h"

namespace relay::cli {
namespace {

using protocol::ReceiptStatus;

std::string via_of(const protocol::Receipt& step) {
  return step.via.empty() ? "" : relay::format(" (via {})", sanitize(step.via, Lines::Join));
}

/// The stage that a step reached; empty when it reached none.
std::string stage_of(const protocol::Receipt& step) {
  if (step.status == ReceiptStatus::Delivered || step.proof == "written")
    return step.proof.empty() || step.proof == "accepted" ? "delivered" : sanitize(step.proof, Lines::Join);
  return step.status == ReceiptStatus::Accepted ? "accepted" : "";
}

const protocol::Receipt* furthest(const SendResult& result) {
  const protocol::Receipt* found = nullptr;
  for (const auto& step : result.steps)
    if (!stage_of(step).empty()) found = &step;
  return found;
}

/// The reason of the last step, when that deferred the delivery.
std::string deferral_of(const SendResult& result) {
  if (result.steps.empty() || result.steps.back().status != ReceiptStatus::Deferred) return "";
  return sanitize(result.steps.back().reason, Lines::Join);
}

/// The reason for a recipient that is not connected.
std::string offline_reason(const SendResult& result, const std::string& name, HostRuns host, WallMs now) {
  if (host == HostRuns::Yes)
    return relay::format("the host of {} runs but is not connected; see: agent-relay explain {}", name, name);
  return relay::format("{} is offline since {}", name, short_clock(result.offline_since, now));
}

}  // namespace

HostRuns host_runs(const Context& context, const SendResult& result, const std::string& to) {
  const bool runs = result.offline_since > 0 && host::find_host(context.project.hosts, to);
  return runs ? HostRuns::Yes : HostRuns::No;
}

std::string progress_text(const SendResult& result, bool unicode) {
  const std::string_view arrow = unicode ? " → " : " -> ";
  std::string line = result.offline_since > 0 ? "queued" : "stored", last = line, via;
  for (const auto& step : result.steps) {
    const auto stage = stage_of(step);
    if (stage.empty() || stage == last) continue;
    line += relay::format("{}{}{}", arrow, stage, step.via == via ? "" : via_of(step));
    last = stage;
    via = step.via;
  }
  const auto reason = deferral_of(result);
  return reason.empty() ? line : relay::format("{}; pending: {}", line, reason);
}

std::string progress_summary(const SendResult& result, const std::string& to, HostRuns host, WallMs now) {
  const auto name = sanitize(to, Lines::Join);
  const auto reason = deferral_of(result);
  const auto* step = furthest(result);
  if (step == nullptr) {
    if (!reason.empty()) return relay::format("stored; pending: {}", reason);
    if (result.offline_since > 0)
      return relay::format("stored, to be delivered later: {}", offline_reason(result, name, host, now));
    return "stored, to be delivered later";
  }
  if (!reason.empty()) return relay::format("{}'s session has it; pending: {}", name, reason);
  if (step->status == ReceiptStatus::Delivered && step->proof == "seen")
    return relay::format("{}'s agent saw it{}", name, via_of(*step));
  if (step->status == ReceiptStatus::Delivered && step->proof == "submitted")
    return relay::format("it was submitted to {}'s agent{}; no evidence that the model read it", name, via_of(*step));
  if (step->status == ReceiptStatus::Delivered)
    return relay::format("{} received it{}; its session reports nothing more", name, via_of(*step));
  if (step->proof == "written")
    return relay::format("it was written to {}{}; no more evidence yet", name, via_of(*step));
  return relay::format("{}'s session has it{} but has not delivered it yet", name, via_of(*step));
}

std::string queued_text(const SendResult& result, const std::string& to, HostRuns host, WallMs now) {
  if (result.offline_since <= 0 && !result.pending_reason.empty())
    return relay::format("pending: {}", sanitize(result.pending_reason, Lines::Join));
  if (result.offline_since <= 0) return "";
  return relay::format("queued ({})", offline_reason(result, sanitize(to, Lines::Join), host, now));
}

ProgressLine::ProgressLine(const Context& context, std::string to)
    : context_{context}, to_{std::move(to)}, line_{context} {}

void ProgressLine::show(const SendResult& result) {
  if (!line_.is_live()) return;
  const auto queued =
      result.steps.empty() ? queued_text(result, to_, host_runs(context_, result, to_), context_.now()) : "";
  line_.show(queued.empty()
                 ? relay::format("{}: {}", sanitize(to_, Lines::Join), progress_text(result, context_.unicode))
                 : queued);
}

}  // namespace relay::cli
