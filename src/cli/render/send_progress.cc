#include "cli/render/send_progress.h"

#include "base/format.h"
#include "cli/render/times.h"
#include "host/control/host_record.h"

namespace relay::cli {
namespace {

using protocol::ReceiptStatus;

std::string by(const protocol::Receipt& step) {
  return step.via.empty() ? "" : relay::format(" (by {})", sanitize(step.via, Lines::Join));
}

/// Where a step leaves the message; empty when it moved nothing.
std::string place_of(const protocol::Receipt& step) {
  if (step.status == ReceiptStatus::Delivered || step.proof == "written")
    return step.proof.empty() || step.proof == "accepted" ? "delivered" : sanitize(step.proof, Lines::Join);
  return step.status == ReceiptStatus::Accepted ? "accepted" : "";
}

const protocol::Receipt* furthest(const SendResult& fate) {
  const protocol::Receipt* found = nullptr;
  for (const auto& step : fate.steps)
    if (!place_of(step).empty()) found = &step;
  return found;
}

/// Why it does not go on at the moment.
std::string held_by(const SendResult& fate) {
  if (fate.steps.empty() || fate.steps.back().status != ReceiptStatus::Deferred) return "";
  return sanitize(fate.steps.back().reason, Lines::Join);
}

/// Of a recipient that is not connected.
std::string away(const SendResult& fate, const std::string& name, HostRuns host, WallMs now) {
  if (host == HostRuns::Yes)
    return relay::format("{}'s host runs and is not connected; see: agent-relay explain {}", name, name);
  return relay::format("{} is offline since {}", name, short_clock(fate.offline_since, now));
}

}  // namespace

HostRuns host_runs(const Context& context, const SendResult& fate, const std::string& to) {
  const bool runs = fate.offline_since > 0 && host::host_of(context.project.hosts, to);
  return runs ? HostRuns::Yes : HostRuns::No;
}

std::string progress_text(const SendResult& fate, bool unicode) {
  const std::string_view arrow = unicode ? " → " : " -> ";
  std::string line = fate.offline_since > 0 ? "queued" : "stored", last = line, way;
  for (const auto& step : fate.steps) {
    const auto place = place_of(step);
    if (place.empty() || place == last) continue;
    line += relay::format("{}{}{}", arrow, place, step.via == way ? "" : by(step));
    last = place;
    way = step.via;
  }
  const auto held = held_by(fate);
  return held.empty() ? line : relay::format("{}; waits: {}", line, held);
}

std::string progress_summary(const SendResult& fate, const std::string& to, HostRuns host, WallMs now) {
  const auto name = sanitize(to, Lines::Join);
  const auto held = held_by(fate);
  const auto* step = furthest(fate);
  if (step == nullptr) {
    if (!held.empty()) return relay::format("it is stored and waits: {}", held);
    if (fate.offline_since > 0)
      return relay::format("it is stored and will be delivered later, {}", away(fate, name, host, now));
    return "it is stored and will be delivered later";
  }
  if (!held.empty()) return relay::format("{}'s session has it, and it waits: {}", name, held);
  if (step->status == ReceiptStatus::Delivered && step->proof == "seen")
    return relay::format("{}'s agent has seen it{}", name, by(*step));
  if (step->status == ReceiptStatus::Delivered && step->proof == "submitted")
    return relay::format("{}'s agent took it up{}, but nothing shows that its model has read it", name, by(*step));
  if (step->status == ReceiptStatus::Delivered)
    return relay::format("{} took it{}, and tells nothing beyond that", name, by(*step));
  if (step->proof == "written")
    return relay::format("it was written to {}{}, and nothing shows more yet", name, by(*step));
  return relay::format("{}'s session has it{} and waits for its moment", name, by(*step));
}

std::string queued_sentence(const SendResult& fate, const std::string& to, HostRuns host, WallMs now) {
  if (fate.offline_since <= 0 && !fate.waits.empty())
    return relay::format("waits: {}", sanitize(fate.waits, Lines::Join));
  if (fate.offline_since <= 0) return "";
  return relay::format("queued ({})", away(fate, sanitize(to, Lines::Join), host, now));
}

ProgressLine::ProgressLine(const Context& context, std::string to)
    : context_{context}, to_{std::move(to)}, line_{context} {}

void ProgressLine::show(const SendResult& fate) {
  if (!line_.is_live()) return;
  const auto queued =
      fate.steps.empty() ? queued_sentence(fate, to_, host_runs(context_, fate, to_), context_.now()) : "";
  line_.show(queued.empty() ? relay::format("{}: {}", sanitize(to_, Lines::Join), progress_text(fate, context_.unicode))
                            : queued);
}

}  // namespace relay::cli
