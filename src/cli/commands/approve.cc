/// `agent-relay approve`, `agent-relay deny`, `agent-relay answer`: prompts of an agent.
#include "base/format.h"
#include "cli/commands/commands.h"
#include "cli/framework/context.h"
#include "cli/framework/failure.h"
#include "cli/framework/invocation.h"
#include "cli/render/text.h"
#include "cli/wire/prompts.h"

namespace relay::cli {
namespace {

ExitCode send_answer(const Invocation& invocation, Context& context, PromptAnswer answer, std::string_view done) {
  answer.agent = invocation.argument(0);
  answer.prompt = invocation.value("--prompt").value_or("");
  const auto prompt = RELAY_CLI_TRY(answer_prompt(context, answer));
  print_wrapped(relay::format("{}  {}: {}\n", done, sanitize(answer.agent, Lines::Join),
                              sanitize(string_member(prompt, "summary").value_or(""), Lines::Join)));
  return ExitCode::Ok;
}

ExitCode approve(const Invocation& invocation, Context& context) {
  return send_answer(invocation, context, {.kind = "permission"}, "approved");
}
ExitCode deny(const Invocation& invocation, Context& context) {
  return send_answer(invocation, context, {.approve = false, .message = invocation.value("--message").value_or("")},
                     "denied");
}
ExitCode answer(const Invocation& invocation, Context& context) {
  PromptAnswer answer{.kind = "question"};
  for (std::size_t i = 1; i < invocation.argument_count(); ++i) answer.answers.push_back(invocation.argument(i));
  return send_answer(invocation, context, std::move(answer), "answered");
}

constexpr Argument kAgent[] = {
    {.name = "NAME", .description = "the agent with the prompt", .completes = CompletionKind::Permissions},
};
constexpr Argument kAgentAndChoices[] = {
    {.name = "NAME", .description = "the agent with the prompt", .completes = CompletionKind::Questions},
    {.name = "TEXT", .arity = Arity::Many, .description = "one answer for each question, in order"},
};
constexpr Option kPrompt{.name = "--prompt", .value = "ID", .description = "the prompt, when the agent has several"};
constexpr Option kApproveOptions[] = {kPrompt};
constexpr Option kDenyOptions[] = {kPrompt,
                                   {.name = "--message", .value = "TEXT", .description = "the reason, for the agent"}};

}  // namespace

const Command kApprove = {
    .name = "approve",
    .group = Group::Control,
    .usage = "approve NAME",
    .summary = "approve a permission request",
    .arguments = kAgent,
    .options = kApproveOptions,
    .example = "agent-relay approve Bob",
    .details = "Approves only the pending request. Refused when there is none: nothing is approved in advance.",
    .run = approve,
};

const Command kDeny = {
    .name = "deny",
    .group = Group::Control,
    .usage = "deny NAME",
    .summary = "deny a permission request",
    .hint = "[--message]",
    .arguments = kAgent,
    .options = kDenyOptions,
    .example = "agent-relay deny Bob --message \"use the staging server\"",
    .details =
        "A reason reaches the model of Claude Code, OpenCode, and a Codex without a terminal. Dialogs that are\n"
        "answered by keys take none (Gemini CLI, Codex in a terminal, others): --message is then refused and nothing\n"
        "is answered. Deny without it, and send the reason with `agent-relay send`.",
    .run = deny,
};

const Command kAnswer = {
    .name = "answer",
    .group = Group::Control,
    .usage = "answer NAME TEXT",
    .summary = "answer an agent's question",
    .arguments = kAgentAndChoices,
    .options = kApproveOptions,
    .example = "agent-relay answer Bob SQLite",
    .run = answer,
};

}  // namespace relay::cli
