#include "adapters/hook_prompts.h"

#include <algorithm>

#include "base/format.h"
#include "base/json.h"

namespace relay::adapters {
namespace {

constexpr PromptOutcome kAsksOnScreen{.by = "nobody: the agent asks on its screen", .still_asked = true};
constexpr PromptOutcome kByPerson{.by = "user"};
constexpr std::string_view kQuestionTool = "AskUserQuestion";

std::vector<Question> questions_in(const json::object& input) {
  std::vector<Question> all;
  const auto* list = array_member(input, "questions");
  if (list == nullptr) return all;
  for (const auto& value : *list) {
    const auto* each = value.if_object();
    if (each == nullptr) continue;
    Question question{.text = string_member(*each, "question").value_or(""),
                      .several = bool_member(*each, "multiSelect").value_or(false)};
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

Prompt prompt_in(const hooks::HookEvent& event) {
  const auto input = input_of(event);
  Prompt prompt{.tool = event.tool,
                .summary = summary_of(event.tool, input),
                .input = event.tool_input,
                .partial = event.tool_input_cut,
                .directory = event.working_directory,
                .via = way::kHook};
  if (event.tool != kQuestionTool) return prompt;
  prompt.questions = questions_in(input);
  if (prompt.questions.empty()) return prompt;
  prompt.kind = PromptKind::Question;
  prompt.summary = prompt.questions.front().text;
  return prompt;
}

Result<hooks::HookResponse> answer_to(const hooks::HookEvent& event, const Prompt& prompt, const PromptAnswer& reply) {
  if (reply.verdict == PromptAnswer::Decision::Deny)
    return hooks::HookResponse{.decision = hooks::HookDecision::Deny,
                               .message = reply.message.empty() ? "The person said no." : reply.message};
  if (prompt.kind == PromptKind::Permission) return hooks::HookResponse{.decision = hooks::HookDecision::Allow};
  if (reply.answers.size() != prompt.questions.size())
    return fail(
        format("{} asked and {} answered; answer each, in order", prompt.questions.size(), reply.answers.size()));
  auto input = input_of(event);
  json::object answers;
  for (std::size_t i = 0; i < prompt.questions.size(); ++i) answers[prompt.questions[i].text] = reply.answers[i];
  input["answers"] = std::move(answers);
  return hooks::HookResponse{.decision = hooks::HookDecision::Allow, .updated_input = json::serialize(input)};
}

void HookPrompts::open(const hooks::HookEvent& event, std::uint64_t call, Adapter::HookReply reply) {
  auto prompt = prompt_in(event);
  prompt.id = format("p{}", ++last_);
  const auto& open =
      open_.emplace_back(Open{.call = call,
                              .prompt = prompt,
                              .event = event,
                              .reply = std::move(reply),
                              .shown = state_ == profiles::State::Blocked});  // the dialog may be seen before the hook
  if (timeout_)
    open_.back().timer =
        loop_->at(loop_->now().steady + *timeout_, [this, id = std::string{open.prompt.id}] { leave(id); });
  listener_->on_prompt(prompt);
}

Result<void> HookPrompts::answer(const std::string& prompt, const PromptAnswer& reply) {
  const auto found = std::ranges::find(open_, prompt, [](const Open& each) { return each.prompt.id; });
  if (found == open_.end()) return fail("that prompt is not open any more");
  const auto answer = RELAY_TRY(answer_to(found->event, found->prompt, reply));
  end(found, answer, {.by = way::kHook});
  return {};
}

void HookPrompts::leave(const std::string& prompt) {
  const auto found = std::ranges::find(open_, prompt, [](const Open& each) { return each.prompt.id; });
  if (found != open_.end()) end(found, {}, kAsksOnScreen);
}

void HookPrompts::on_hook_gone(std::uint64_t call) {
  const auto found = std::ranges::find(open_, call, &Open::call);
  if (found == open_.end()) return;
  const bool still_asks = found->shown && state_ == profiles::State::Blocked;  // its time was over
  end(found, {}, still_asks ? kAsksOnScreen : kByPerson);
}

void HookPrompts::on_state(profiles::State state) {
  state_ = state;
  if (state == profiles::State::Unknown || open_.empty()) return;
  // One dialog at a time is on the screen, the oldest first.
  auto& oldest = open_.front();
  if (state == profiles::State::Blocked)
    oldest.shown = true;
  else if (oldest.shown)
    end(open_.begin(), {}, kByPerson);
}

void HookPrompts::end(std::list<Open>::iterator open, const hooks::HookResponse& answer, const PromptOutcome& how) {
  auto ended = std::move(*open);
  open_.erase(open);
  ended.reply(answer);
  listener_->on_prompt_closed(ended.prompt.id, how);
}

}  // namespace relay::adapters
