#include "adapters/hook_prompts.h"

#include <algorithm>

#include "base/format.h"
#include "base/json.h"

namespace relay::adapters {
namespace {

constexpr PromptOutcome kOnScreen{.by = "nobody: the agent shows its own dialog", .still_on_screen = true};
constexpr PromptOutcome kByUser{.by = "user"};
constexpr std::string_view kQuestionTool = "AskUserQuestion";

std::vector<Question> parse_questions(const json::object& input) {
  std::vector<Question> all;
  const auto* list = array_member(input, "questions");
  if (list == nullptr) return all;
  for (const auto& value : *list) {
    const auto* each = value.if_object();
    if (each == nullptr) continue;
    Question question{.text = string_member(*each, "question").value_or(""),
                      .multiple = bool_member(*each, "multiSelect").value_or(false)};
    if (const auto* options = array_member(*each, "options"))
      for (const auto& option : *options)
        if (const auto* one = option.if_object()) question.choices.push_back(string_member(*one, "label").value_or(""));
    all.push_back(std::move(question));
  }
  return all;
}

json::object input_of(const hooks::HookEvent& event) {
  if (event.tool_input.empty() || event.tool_input_cut) return {};
  return parse_json_object(event.tool_input).value_or(json::object{});
}

}  // namespace

Prompt parse_prompt(const hooks::HookEvent& event) {
  const auto input = input_of(event);
  Prompt prompt{.tool = event.tool,
                .summary = summary_of(event.tool, input),
                .input = event.tool_input,
                .partial = event.tool_input_cut,
                .directory = event.working_directory,
                .via = via::kHook};
  if (event.tool != kQuestionTool) return prompt;
  prompt.questions = parse_questions(input);
  if (prompt.questions.empty()) return prompt;
  prompt.kind = PromptKind::Question;
  prompt.summary = prompt.questions.front().text;
  return prompt;
}

Result<hooks::HookResponse> make_response(const hooks::HookEvent& event, const Prompt& prompt,
                                          const PromptAnswer& answer) {
  if (answer.decision == PromptAnswer::Decision::Deny)
    return hooks::HookResponse{.decision = hooks::HookDecision::Deny,
                               .message = answer.message.empty() ? "The user denied this." : answer.message};
  if (prompt.kind == PromptKind::Permission) return hooks::HookResponse{.decision = hooks::HookDecision::Allow};
  if (answer.answers.size() != prompt.questions.size())
    return fail(
        format("{} questions and {} answers; answer each, in order", prompt.questions.size(), answer.answers.size()));
  auto input = input_of(event);
  json::object answers;
  for (std::size_t i = 0; i < prompt.questions.size(); ++i) answers[prompt.questions[i].text] = answer.answers[i];
  input["answers"] = std::move(answers);
  return hooks::HookResponse{.decision = hooks::HookDecision::Allow, .updated_input = json::serialize(input)};
}

void HookPrompts::open(const hooks::HookEvent& event, std::uint64_t call, Adapter::HookReply reply) {
  auto prompt = parse_prompt(event);
  prompt.id = format("p{}", ++last_);
  const auto& open = open_.emplace_back(
      Open{.call = call,
           .prompt = prompt,
           .event = event,
           .reply = std::move(reply),
           .on_screen = state_ == profiles::State::Blocked});  // a dialog may be visible before its hook
  if (timeout_)
    open_.back().timer =
        loop_->at(loop_->now().steady + *timeout_, [this, id = std::string{open.prompt.id}] { release(id); });
  listener_->on_prompt(prompt);
}

Result<void> HookPrompts::answer(const std::string& prompt, const PromptAnswer& answer) {
  const auto found = std::ranges::find(open_, prompt, [](const Open& each) { return each.prompt.id; });
  if (found == open_.end()) return fail("that prompt is not open any more");
  const auto response = RELAY_TRY(make_response(found->event, found->prompt, answer));
  end(found, response, {.by = via::kHook});
  return {};
}

void HookPrompts::release(const std::string& prompt) {
  const auto found = std::ranges::find(open_, prompt, [](const Open& each) { return each.prompt.id; });
  if (found != open_.end()) end(found, {}, kOnScreen);
}

void HookPrompts::on_hook_closed(std::uint64_t call) {
  const auto found = std::ranges::find(open_, call, &Open::call);
  if (found == open_.end()) return;
  const bool still_open = found->on_screen && state_ == profiles::State::Blocked;  // the agent's timeout
  end(found, {}, still_open ? kOnScreen : kByUser);
}

void HookPrompts::on_state(profiles::State state) {
  state_ = state;
  if (state == profiles::State::Unknown || open_.empty()) return;
  // One dialog at a time is on the screen, the oldest first.
  auto& oldest = open_.front();
  if (state == profiles::State::Blocked)
    oldest.on_screen = true;
  else if (oldest.on_screen)
    end(open_.begin(), {}, kByUser);
}

void HookPrompts::end(std::list<Open>::iterator open, const hooks::HookResponse& response,
                      const PromptOutcome& outcome) {
  auto ended = std::move(*open);
  open_.erase(open);
  ended.reply(response);
  listener_->on_prompt_closed(ended.prompt.id, outcome);
}

}  // namespace relay::adapters
