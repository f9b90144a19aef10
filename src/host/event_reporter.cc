#include "host/event_reporter.h"

#include <algorithm>

#include "base/format.h"
#include "base/json.h"

namespace relay::host {
namespace {

/// The id of the prompt that the event opens; empty for other events.
std::string opened_prompt_of(const events::Event& event) {
  if (const auto* permission = std::get_if<events::PermissionRequested>(&event)) return permission->request_id;
  if (const auto* question = std::get_if<events::QuestionRequested>(&event)) return question->question_id;
  return {};
}

std::string resolved_prompt_of(const events::Event& event) {
  if (const auto* permission = std::get_if<events::PermissionResolved>(&event)) return permission->request_id;
  if (const auto* question = std::get_if<events::QuestionResolved>(&event)) return question->question_id;
  return {};
}

}  // namespace

std::string event_payload(const events::Event& event, WallMs at, std::string_view again) {
  json::object members{{"type", events::type_of(event)}};
  for (auto& [name, value] : events::members_of(event)) members[name] = std::move(value);
  members["_ts"] = at;
  if (!again.empty()) members["_again"] = again;
  return json::serialize(json::object{{"event", std::move(members)}});
}

void EventReporter::report(events::Event event, WallMs at) {
  if (auto* tokens = std::get_if<events::TokensUsed>(&event)) tokens->agent_name = agent_;
  const auto ended = open_.extract(resolved_prompt_of(event));
  const bool was_reported = !ended.empty() && !(ended.mapped().event.empty() && ended.mapped().session.empty());
  const auto id = missing_ == 0 ? send(event, at) : std::string{};
  if (id.empty()) {
    ++dropped_, ++missing_;
    if (was_reported && unreported_.size() < kMaxUnreported) unreported_.emplace_back(event, at);
  }
  if (auto prompt = opened_prompt_of(event); !prompt.empty()) {
    auto& request = open_.try_emplace(std::move(prompt), Request{.since = at}).first->second;
    request.event = id;
    request.session.clear();
  }
}

bool EventReporter::report_gap(WallMs now) {
  if (missing_ == 0 || link_.event_counts().waiting > client::kMaxEvents / 2) return false;
  const events::AgentUnparsed gap{.source = "relay",
                                  .problem = format("{} events were dropped: the event queue was full", missing_)};
  if (send(gap, now).empty()) return false;
  missing_ = 0;
  for (auto& [event, at] : std::exchange(unreported_, {})) {  // otherwise their prompts stay open at the daemon
    if (missing_ == 0 && !send(event, at).empty()) continue;
    ++missing_;
    unreported_.emplace_back(std::move(event), at);
  }
  return true;
}

bool EventReporter::is_storing_request() const {
  return std::ranges::any_of(open_, [&](const auto& entry) {
    const auto& event = entry.second.event;
    return !event.empty() && link_.has_pending_event(event);
  });
}

void EventReporter::report_again(const std::vector<events::Event>& requests, const std::string& session, WallMs now) {
  // Events that are no longer pending were stored by the previous session.
  for (auto& [id, request] : open_)
    if (request.session.empty() && !request.event.empty() && !link_.has_pending_event(request.event))
      request.session = session_;
  session_ = session;
  if (missing_ > 0) return;  // the caller repeats this after the gap is reported
  for (const auto& event : requests) {
    const auto before = open_.find(opened_prompt_of(event));
    if (before == open_.end()) {
      report(event, now);
      continue;
    }
    auto& request = before->second;
    if (link_.has_pending_event(request.event)) continue;
    request.event = send(event, request.since, request.session);
    if (request.event.empty()) ++dropped_, ++missing_;
    if (request.session != session) request.session.clear();  // the current session will store it
  }
}

void EventReporter::describe(text::JsonWriter& out) const {
  const auto counts = link_.event_counts();
  out.begin_object("events")
      .field("sent", counts.acked)
      .field("pending", counts.waiting)
      .field("dropped", dropped_ + counts.refused)
      .end();
}

std::string EventReporter::send(const events::Event& event, WallMs at, std::string_view again) {
  return link_.send_event(event_payload(event, at, again)).value_or(std::string{});
}

}  // namespace relay::host
