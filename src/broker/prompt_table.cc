#include "broker/prompt_table.h"

#include <algorithm>

namespace relay::broker {
namespace {

/// Without the risk, which the broker assesses, and members that may change while it is open.
events::Event content_of(const events::Event& event) {
  auto content = event;
  if (auto* permission = std::get_if<events::PermissionRequested>(&content)) {
    permission->risk_level = {};
    permission->can_answer.reset();
  } else if (auto* question = std::get_if<events::QuestionRequested>(&content)) {
    question->can_answer.reset();
  }
  return content;
}

bool equal(const events::Event& one, const events::Event& other) {
  if (const auto* permission = std::get_if<events::PermissionRequested>(&one)) {
    const auto* another = std::get_if<events::PermissionRequested>(&other);
    return another != nullptr && *permission == *another;
  }
  const auto* question = std::get_if<events::QuestionRequested>(&one);
  const auto* another = std::get_if<events::QuestionRequested>(&other);
  return question != nullptr && another != nullptr && *question == *another;
}

}  // namespace

bool OpenPrompt::can_answer() const {
  const auto* request = permission();
  const auto& reported =
      request != nullptr ? request->can_answer : std::get<events::QuestionRequested>(event).can_answer;
  return reported.value_or(true);
}

std::optional<WallMs> OpenPrompt::expires_at() const {
  if (!decision.timeout || decision.action != permissions::Action::Ask || !can_answer()) return std::nullopt;
  return requested_at + std::chrono::duration_cast<Millis>(*decision.timeout).count();
}

bool OpenPrompt::is_same_request(const OpenPrompt& other) const {
  return equal(content_of(event), content_of(other.event));
}

std::optional<OpenPrompt> parse_prompt(const events::Event& event, const json::object& object, WallMs now) {
  std::string id;
  if (const auto* permission = std::get_if<events::PermissionRequested>(&event))
    id = permission->request_id;
  else if (const auto* question = std::get_if<events::QuestionRequested>(&event))
    id = question->question_id;
  else
    return std::nullopt;
  const auto reported_at = integer_member(object, "_ts").value_or(now);
  return OpenPrompt{std::move(id), event, std::clamp<WallMs>(reported_at, 0, std::max<WallMs>(now, 0))};
}

std::string resolved_prompt_id(const events::Event& event) {
  if (const auto* permission = std::get_if<events::PermissionResolved>(&event)) return permission->request_id;
  if (const auto* question = std::get_if<events::QuestionResolved>(&event)) return question->question_id;
  return {};
}

OpenPrompt* PromptTable::find(std::string_view id) {
  const auto found = std::ranges::find(open_, id, &OpenPrompt::id);
  return found == open_.end() ? nullptr : &*found;
}

const OpenPrompt* PromptTable::last_reported(std::string_view id) const {
  const auto storing = std::ranges::find(storing_.rbegin(), storing_.rend(), id, &OpenPrompt::id);
  if (storing != storing_.rend()) return &*storing;
  const auto open = std::ranges::find(open_, id, &OpenPrompt::id);
  return open == open_.end() ? nullptr : &*open;
}

void PromptTable::end_storing(std::string_view id) {
  if (const auto first = std::ranges::find(storing_, id, &OpenPrompt::id); first != storing_.end())
    storing_.erase(first);
}

void PromptTable::end_ending(std::string_view id) {
  if (const auto first = std::ranges::find(ending_, id); first != ending_.end()) ending_.erase(first);
}

OpenPrompt* PromptTable::add(OpenPrompt prompt) {
  if (open_.size() >= kMaxOpenPrompts) return nullptr;
  return &open_.emplace_back(std::move(prompt));
}

bool PromptTable::remove(std::string_view id) {
  const auto found = std::ranges::find(open_, id, &OpenPrompt::id);
  if (found == open_.end()) return false;
  remember_closed(found->id);
  open_.erase(found);
  return true;
}

std::deque<OpenPrompt> PromptTable::take_all() {
  for (const auto& open : open_) remember_closed(open.id);
  return std::exchange(open_, {});
}

void PromptTable::remember_closed(const std::string& id) {
  closed_.push_back(id);
  if (closed_.size() > kMaxClosedPrompts) closed_.pop_front();
}

}  // namespace relay::broker
