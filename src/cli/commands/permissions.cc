/// `agent-relay permissions`, `agent-relay questions`: the pending prompts of agents.
#include <algorithm>

#include "base/format.h"
#include "cli/commands/commands.h"
#include "cli/framework/context.h"
#include "cli/framework/failure.h"
#include "cli/framework/invocation.h"
#include "cli/render/text.h"
#include "cli/render/times.h"
#include "cli/wire/json_fields.h"
#include "cli/wire/prompts.h"

namespace relay::cli {
namespace {

constexpr std::size_t kOtherColumns = 60;  // approximate width of all other columns
constexpr std::size_t kMinColumns = 30;

std::string join_choices(const json::array& choices) {
  std::string all;
  for (const auto& choice : choices)
    if (choice.is_string())
      all +=
          (all.empty() ? "" : " | ") + sanitize({choice.get_string().data(), choice.get_string().size()}, Lines::Join);
  return all;
}

std::string choices_of(const json::object& prompt) {
  if (const auto* options = array_member(prompt, "options")) return join_choices(*options);
  std::string all;
  for (const auto* question : objects_in(prompt, "questions"))
    if (const auto* choices = array_member(*question, "choices"))
      all += (all.empty() || choices->empty() ? "" : " | ") + join_choices(*choices);
  return all;
}

std::string answer_hint(const json::object& prompt) {
  if (bool_member(prompt, "canAnswer").value_or(true)) return {};
  return relay::format("answer it on the agent's screen: agent-relay attach {}", display_field(prompt, "agent"));
}

/// The prompt was found on the screen only (its id is `s1`, not `spawn1`). The rules treat all of these as partial,
/// since a screen proves nothing; the summary has everything that the dialog shows.
bool is_from_screen(const json::object& prompt) {
  const auto id = display_field(prompt, "id");
  return id.size() > 1 && id[0] == 's' && id.find_first_not_of("0123456789", 1) == std::string::npos;
}

/// The risk, the rule that leaves it to the user, and where to answer.
std::string reason_of(const json::object& prompt) {
  std::string all;
  for (const auto& part : {display_field(prompt, "riskReason"), display_field(prompt, "rule"), answer_hint(prompt)})
    if (!part.empty()) all += (all.empty() ? "" : "; ") + part;
  if (bool_member(prompt, "partial").value_or(false) && !is_from_screen(prompt))
    all += (all.empty() ? "" : "; ") + relay::format("truncated; see the agent's screen: agent-relay attach {} --print",
                                                     display_field(prompt, "agent"));
  return all;
}

std::string age_of(const json::object& prompt, WallMs now) {
  const auto requested = time_in(prompt, "requestedAt");
  return requested == 0 ? "" : short_duration(Millis{std::max<WallMs>(now - requested, 0)});
}

std::string time_left(const json::object& prompt, WallMs now) {
  const auto ends = time_in(prompt, "expiresAt");
  return ends == 0 ? "" : short_duration(Millis{std::max<WallMs>(ends - now, 0)});
}

ExitCode list(const Invocation& invocation, Context& context, std::string_view kind) {
  const auto prompts = RELAY_CLI_TRY(open_prompts(context, kind));
  if (invocation.has("--json")) {
    print(json::serialize(json::object{{"prompts", json::array(prompts.begin(), prompts.end())}}) + "\n");
    return ExitCode::Ok;
  }
  const bool questions = kind == "question";
  const auto now = context.now();
  const auto room = std::max(context.columns > kOtherColumns ? context.columns - kOtherColumns : 0, kMinColumns);
  Table columns{questions ? std::vector<std::string>{"AGENT", "PROMPT", "AGE", "QUESTION", "CHOICES", ""}
                          : std::vector<std::string>{"AGENT", "PROMPT", "RISK", "AGE", "LEFT", "REQUEST", "REASON"}};
  std::string cut;  // an agent with a truncated text
  for (const auto& prompt : prompts) {
    const auto text = display_field(prompt, "summary");
    const auto summary = context.to_terminal ? truncate(text, room) : text;
    if (summary != text && cut.empty()) cut = display_field(prompt, "agent");
    if (questions)
      columns.add({display_field(prompt, "agent"), display_field(prompt, "id"), age_of(prompt, now), summary,
                   choices_of(prompt), answer_hint(prompt)});
    else
      columns.add({display_field(prompt, "agent"), display_field(prompt, "id"), display_field(prompt, "riskLevel"),
                   age_of(prompt, now), time_left(prompt, now), summary, reason_of(prompt)});
  }
  const bool has_risks = std::ranges::any_of(prompts, [](const auto& prompt) { return prompt.contains("riskLevel"); });
  if (!questions && !prompts.empty() && !has_risks)
    print_notice("the daemon is not running, so no rule is in force; start it with: agent-relay up");
  if (prompts.empty())
    print_notice(questions ? "no pending questions" : "no pending permission requests");
  else
    print(columns.text(context.paint, context.width()));
  if (!cut.empty())
    print_notice(relay::format(
        "text that ends in … is truncated; see the agent's screen: agent-relay attach {} --print, or use --json", cut));
  return ExitCode::Ok;
}

ExitCode permissions(const Invocation& invocation, Context& context) { return list(invocation, context, "permission"); }
ExitCode questions(const Invocation& invocation, Context& context) { return list(invocation, context, "question"); }

constexpr Option kOptions[] = {kJsonOption};

}  // namespace

const Command kPermissions = {
    .name = "permissions",
    .group = Group::Control,
    .usage = "permissions",
    .summary = "list pending permission requests",
    .hint = "[--json]",
    .options = kOptions,
    .example = "agent-relay permissions",
    .details =
        "Shows the risk of each request, its age, the time left and the rule that asks you. Rules in config.toml\n"
        "answer requests that you always answer the same way (docs/permissions.md). The first answer wins, even one\n"
        "given at the agent's own keyboard. Without a daemon, lists only requests that can be answered from here.",
    .run = permissions,
};

const Command kQuestions = {
    .name = "questions",
    .group = Group::Control,
    .usage = "questions",
    .summary = "list pending questions of agents",
    .hint = "[--json]",
    .options = kOptions,
    .example = "agent-relay questions",
    .run = questions,
};

}  // namespace relay::cli
