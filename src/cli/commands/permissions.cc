/// `agent-relay permissions`, `agent-relay questions`: what agents wait for.
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

constexpr std::size_t kOtherColumns = 60;  // what is about as wide as all but the text of a request
constexpr std::size_t kMinColumns = 30;

std::string joined(const json::array& words) {
  std::string all;
  for (const auto& word : words)
    if (word.is_string())
      all += (all.empty() ? "" : " | ") + sanitize({word.get_string().data(), word.get_string().size()}, Lines::Join);
  return all;
}

std::string choices_of(const json::object& prompt) {
  if (const auto* options = array_member(prompt, "options")) return joined(*options);
  std::string all;
  for (const auto* question : objects_in(prompt, "questions"))
    if (const auto* choices = array_member(*question, "choices"))
      all += (all.empty() || choices->empty() ? "" : " | ") + joined(*choices);
  return all;
}

std::string where(const json::object& prompt) {
  if (bool_member(prompt, "canAnswer").value_or(true)) return {};
  return relay::format("answer it at its own screen: agent-relay attach {}", display_field(prompt, "agent"));
}

/// Known by the agent's screen alone (`s1`, not `spawn1`). Rules take all of these for partial, since a screen proves nothing; what
/// the dialog shows is told whole.
bool is_of_screen(const json::object& prompt) {
  const auto id = display_field(prompt, "id");
  return id.size() > 1 && id[0] == 's' && id.find_first_not_of("0123456789", 1) == std::string::npos;
}

/// Why it waits: what could go wrong, which rule asks, and where it is to be answered.
std::string reason_of(const json::object& prompt) {
  std::string all;
  for (const auto& part : {display_field(prompt, "riskReason"), display_field(prompt, "rule"), where(prompt)})
    if (!part.empty()) all += (all.empty() ? "" : "; ") + part;
  if (bool_member(prompt, "partial").value_or(false) && !is_of_screen(prompt))
    all += (all.empty() ? "" : "; ") +
           relay::format("only a part of it is told here; its screen: agent-relay attach {} --print",
                         display_field(prompt, "agent"));
  return all;
}

std::string age_of(const json::object& prompt, WallMs now) {
  const auto asked = time_in(prompt, "requestedAt");
  return asked == 0 ? "" : short_duration(Millis{std::max<WallMs>(now - asked, 0)});
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
  Table columns{questions
                    ? std::vector<std::string>{"AGENT", "PROMPT", "SINCE", "ASKS", "CHOICES", ""}
                    : std::vector<std::string>{"AGENT", "PROMPT", "RISK", "SINCE", "LEFT", "WANTS TO", "WHY IT WAITS"}};
  std::string cut;  // whose text did not fit
  for (const auto& prompt : prompts) {
    const auto told = display_field(prompt, "summary");
    const auto summary = context.to_terminal ? truncate(told, room) : told;
    if (summary != told && cut.empty()) cut = display_field(prompt, "agent");
    if (questions)
      columns.add({display_field(prompt, "agent"), display_field(prompt, "id"), age_of(prompt, now), summary,
                   choices_of(prompt), where(prompt)});
    else
      columns.add({display_field(prompt, "agent"), display_field(prompt, "id"), display_field(prompt, "riskLevel"),
                   age_of(prompt, now), time_left(prompt, now), summary, reason_of(prompt)});
  }
  const bool judged = std::ranges::any_of(prompts, [](const auto& prompt) { return prompt.contains("riskLevel"); });
  if (!questions && !prompts.empty() && !judged)
    print_notice("the daemon does not run, so no rule is in force; start it with: agent-relay up");
  if (prompts.empty())
    print_notice(questions ? "no agent asks a question now" : "no agent waits for a permission now");
  else
    print(columns.text(context.paint, context.width()));
  if (!cut.empty())
    print_notice(relay::format(
        "what ends in … is longer; see it on the agent's screen: agent-relay attach {} --print, or whole with "
        "--json",
        cut));
  return ExitCode::Ok;
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
        "What waits for you: how risky it is, since when it is asked, how much time is left, which rule asks. Rules\n"
        "in config.toml answer what you would always answer the same way (docs/permissions.md). Whoever answers first\n"
        "wins, the person at the agent's own keyboard included. Without a daemon, only what can be answered from here.",
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
