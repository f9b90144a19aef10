/// `agent-relay permissions`, `agent-relay questions`: what agents wait for.
#include "base/format.h"
#include "cli/commands/commands.h"
#include "cli/context.h"
#include "cli/invocation.h"
#include "cli/prompting.h"
#include "cli/text.h"

namespace relay::cli {
namespace {

std::string choices_of(const json::object& prompt) {
  std::string all;
  if (const auto* questions = array_member(prompt, "questions"))
    for (const auto& question : *questions)
      if (const auto* choices = question.is_object() ? array_member(question.get_object(), "choices") : nullptr)
        for (const auto& choice : *choices)
          if (choice.is_string())
            all += (all.empty() ? "" : " | ") +
                   sanitised({choice.get_string().data(), choice.get_string().size()}, Lines::Join);
  return all;
}

ExitCode list(const Invocation& invocation, Context& context, std::string_view kind) {
  const auto prompts = open_prompts(context, kind);
  if (invocation.has("--json")) {
    print(json::serialize(json::object{{"prompts", json::array(prompts.begin(), prompts.end())}}) + "\n");
    return ExitCode::Yes;
  }
  const bool questions = kind == "question";
  Columns columns{{"AGENT", "PROMPT", questions ? "ASKS" : "WANTS TO", questions ? "CHOICES" : ""}};
  const auto word = [](const json::object& prompt, std::string_view name) {
    return sanitised(string_member(prompt, name).value_or(""), Lines::Join);
  };
  for (const auto& prompt : prompts)
    columns.add({word(prompt, "agent"), word(prompt, "id"), word(prompt, "summary"), choices_of(prompt)});
  if (prompts.empty())
    remark(questions ? "no agent asks a question now" : "no agent waits for a permission now");
  else
    print(columns.text(context.paint));
  return ExitCode::Yes;
}

ExitCode permissions(const Invocation& invocation, Context& context) { return list(invocation, context, "permission"); }
ExitCode questions(const Invocation& invocation, Context& context) { return list(invocation, context, "question"); }

constexpr Option kOptions[] = {kJsonOption};

}  // namespace

const Command kPermissions = {
    .name = "permissions",
    .group = Group::Steering,
    .usage = "permissions",
    .summary = "what agents ask to be allowed",
    .hint = "[--json]",
    .options = kOptions,
    .example = "agent-relay permissions",
    .details =
        "Only what can be answered from here: agents that ask through a hook or a server of theirs. Whoever answers\n"
        "first wins, the person at the agent's own keyboard included.",
    .run = permissions,
};

const Command kQuestions = {
    .name = "questions",
    .group = Group::Steering,
    .usage = "questions",
    .summary = "what agents ask their person",
    .hint = "[--json]",
    .options = kOptions,
    .example = "agent-relay questions",
    .run = questions,
};

}  // namespace relay::cli
