#include "protocol/prompt_requests.h"

#include "base/format.h"
#include "protocol/errors.h"
#include "protocol/limits.h"
#include "protocol/payload_fields.h"
#include "text/json_writer.h"
#include "text/utf8.h"

namespace relay::protocol {
namespace {

Result<std::optional<PromptDecision>> read_decision(const Field& field) {
  const auto name = RELAY_TRY(read_string(field, kMaxKindBytes));
  if (name.empty()) return std::nullopt;
  for (const auto decision : {PromptDecision::Approve, PromptDecision::Deny})
    if (name == name_of(decision)) return decision;
  return fail(Errc::BadField, format("the field \"decision\" must be approve or deny, not {}", name));
}

}  // namespace

std::string_view name_of(PromptDecision decision) {
  switch (decision) {
    case PromptDecision::Approve: return "approve";
    case PromptDecision::Deny: return "deny";
  }
  return "";
}

Result<std::string> parse_prompts(std::string_view payload) {
  Field agent{"agent"};
  RELAY_TRY(read_fields(payload, {&agent}));
  return read_string(agent, kMaxNameBytes);
}

Result<AnswerRequest> parse_answer(std::string_view payload) {
  Field agent{"agent"}, request{"request"}, decision{"decision"}, answers{"answers"}, reason{"reason"}, by{"by"};
  RELAY_TRY(read_fields(payload, {&agent, &request, &decision, &answers, &reason, &by}));
  AnswerRequest answer;
  answer.agent = RELAY_TRY(read_required_string(agent, kMaxNameBytes));
  answer.request = RELAY_TRY(read_required_string(request, kMaxIdBytes));
  answer.decision = RELAY_TRY(read_decision(decision));
  answer.answers = RELAY_TRY(read_strings(answers, kMaxAnswers, kMaxAnswerBytes));
  answer.reason = RELAY_TRY(read_truncated_string(reason, kMaxReasonBytes));
  answer.by = RELAY_TRY(read_string(by, kMaxNameBytes));
  if (text::has_control_characters(answer.by))
    return fail(Errc::BadField, "the field \"by\" must be a string without control characters");
  if (answer.by == "policy" || answer.by == "nobody")
    return fail(Errc::BadField, "the field \"by\" must not be policy or nobody");
  if (!answer.decision && answer.answers.empty())
    return fail(Errc::MissingField, "an answer needs \"decision\" (approve or deny) or \"answers\"");
  return answer;
}

std::string write_answer(const AnswerRequest& answer) {
  text::JsonWriter payload;
  payload.field("agent", answer.agent).field("request", answer.request);
  if (answer.decision) payload.field("decision", name_of(*answer.decision));
  if (!answer.answers.empty()) {
    payload.begin_array("answers");
    for (const auto& text : answer.answers) payload.element(text);
    payload.end();
  }
  payload.optional("reason", answer.reason).optional("by", answer.by);
  return payload.take();
}

}  // namespace relay::protocol
