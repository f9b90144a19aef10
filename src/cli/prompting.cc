#include "cli/prompting.h"

#include "base/format.h"
#include "cli/visit.h"

namespace relay::cli {
namespace {

std::vector<json::object> prompts_of(Visit& visit, std::string_view agent, std::string_view kind) {
  std::vector<json::object> prompts;
  const auto answer = visit.ask({{"do", "prompts"}});
  const auto* list = answer ? array_member(*answer, "prompts") : nullptr;
  if (list == nullptr) return prompts;
  for (const auto& value : *list) {
    const auto* prompt = value.if_object();
    if (prompt == nullptr || (!kind.empty() && string_member(*prompt, "kind") != kind)) continue;
    json::object named{{"agent", agent}};
    named.insert(prompt->begin(), prompt->end());
    prompts.push_back(std::move(named));
  }
  return prompts;
}

Result<json::object> the_one(const std::vector<json::object>& prompts, const PromptAnswer& answer) {
  const auto what = answer.kind.empty() ? std::string_view{"prompt"} : answer.kind;
  for (const auto& prompt : prompts)
    if (!answer.prompt.empty() &&
        (string_member(prompt, "id") == answer.prompt || string_member(prompt, "requestId") == answer.prompt))
      return prompt;
  if (!answer.prompt.empty())
    return fail(
        relay::format("{} has no open {} {}; it may have been answered already", answer.agent, what, answer.prompt));
  if (prompts.empty()) return fail(relay::format("{} asks nothing of that kind now", answer.agent));
  if (prompts.size() > 1)
    return fail(relay::format("{} asks {} things; say which with --prompt, as listed by `agent-relay {}s`",
                              answer.agent, prompts.size(), what));
  return prompts.front();
}

}  // namespace

std::vector<json::object> open_prompts(const Context& context, std::string_view kind) {
  std::vector<json::object> all;
  for (const auto& host : host::living_hosts(context.project.hosts)) {
    auto visit = Visit::open(host);
    if (!visit) continue;  // it has just ended
    for (auto& prompt : prompts_of(*visit, host.name, kind)) all.push_back(std::move(prompt));
  }
  return all;
}

Result<json::object> answer_prompt(const Context& context, const PromptAnswer& answer) {
  const auto host = RELAY_TRY(find_host(context, answer.agent));
  auto visit = RELAY_TRY(Visit::open(host));
  auto prompt = RELAY_TRY(the_one(prompts_of(visit, answer.agent, answer.kind), answer));
  json::object request{{"do", "answer"},
                       {"prompt", string_member(prompt, "id").value_or("")},
                       {"decision", answer.allow ? "allow" : "deny"}};
  if (!answer.message.empty()) request["message"] = answer.message;
  if (!answer.answers.empty()) request["answers"] = json::array(answer.answers.begin(), answer.answers.end());
  RELAY_TRY(visit.ask(request));
  return prompt;
}

}  // namespace relay::cli
