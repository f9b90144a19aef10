#include "host/teller.h"

#include "base/format.h"
#include "base/json.h"

namespace relay::host {
namespace {

/// The id of what is asked here; empty when it is no request.
std::string request_in(const events::Event& event) {
  if (const auto* permission = std::get_if<events::PermissionRequested>(&event)) return permission->request_id;
  if (const auto* question = std::get_if<events::QuestionRequested>(&event)) return question->question_id;
  return {};
}

std::string resolved_in(const events::Event& event) {
  if (const auto* permission = std::get_if<events::PermissionResolved>(&event)) return permission->request_id;
  if (const auto* question = std::get_if<events::QuestionResolved>(&event)) return question->question_id;
  return {};
}

}  // namespace

std::string event_payload(const events::Event& event, WallMs at) {
  json::object told{{"type", events::type_of(event)}};
  for (auto& [name, value] : events::members_of(event)) told[name] = std::move(value);
  told["_ts"] = at;
  return json::serialize(json::object{{"event", std::move(told)}});
}

void Teller::tell(events::Event event, WallMs at) {
  if (auto* tokens = std::get_if<events::TokensUsed>(&event)) tokens->agent_name = agent_;
  if (const auto gone = resolved_in(event); !gone.empty()) asked_.erase(gone);
  const auto id = missing_ == 0 ? put(event, at) : std::string{};
  if (id.empty()) ++dropped_, ++missing_;
  if (auto request = request_in(event); !request.empty()) asked_[std::move(request)] = id;
}

bool Teller::close_gap(WallMs now) {
  if (missing_ == 0 || link_.event_counts().waiting > client::kMaxEvents / 2) return false;
  const events::AgentUnparsed gap{
      .source = "relay",
      .problem = format("{} events were not kept: more happened than the daemon took at that time", missing_)};
  if (put(gap, now).empty()) return false;
  missing_ = 0;
  return true;
}

void Teller::tell_again(const std::vector<events::Event>& requests, WallMs now) {
  if (missing_ > 0) return;  // once the gap is told
  for (const auto& event : requests) {
    const auto before = asked_.find(request_in(event));
    if (before != asked_.end() && link_.is_telling(before->second)) continue;
    tell(event, now);
  }
}

void Teller::describe(protocol::JsonWriter& out) const {
  const auto counts = link_.event_counts();
  out.begin_object("events")
      .field("told", counts.told)
      .field("waiting", counts.waiting)
      .field("dropped", dropped_ + counts.refused)
      .end();
}

std::string Teller::put(const events::Event& event, WallMs at) {
  return link_.tell(event_payload(event, at)).value_or(std::string{});
}

}  // namespace relay::host
