/// `agent-relay policy NAME`: whose messages an agent accepts.
#include <algorithm>

#include "base/format.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/framework/context.h"
#include "cli/framework/invocation.h"
#include "cli/wire/control_request.h"
#include "cli/wire/workspace.h"
#include "protocol/control.h"
#include "protocol/names.h"

namespace relay::cli {
namespace {

using protocol::DeliveryPolicyAction;
using protocol::DeliveryPolicyRule;
using Rules = std::vector<DeliveryPolicyRule>;

constexpr DeliveryPolicyAction kActions[] = {DeliveryPolicyAction::Accept, DeliveryPolicyAction::Hold,
                                             DeliveryPolicyAction::Refuse};

Result<Rules> parse_rules(const ControlResponse& done) {
  const auto* rules = array_member(done.result, "rules");
  return rules == nullptr ? Rules{} : protocol::parse_policy(json::serialize(*rules));
}

/// The rules with `rule` in place of an older one for the same sender. The first match wins, so names come before `*`.
Rules with_rule(Rules rules, DeliveryPolicyRule rule) {
  std::erase_if(rules, [&](const DeliveryPolicyRule& old) { return old.from == rule.from; });
  const bool everybody = rule.from == protocol::kEveryone;
  const auto place = everybody ? rules.end() : std::ranges::find(rules, protocol::kEveryone, &DeliveryPolicyRule::from);
  rules.insert(place, std::move(rule));
  return rules;
}

std::string_view meaning_of(DeliveryPolicyAction action) {
  switch (action) {
    case DeliveryPolicyAction::Accept: return "delivered";
    case DeliveryPolicyAction::Hold: return "held until: agent-relay flush";
    case DeliveryPolicyAction::Refuse: return "refused; the sender gets REFUSED";
  }
  return "";
}

void show(const std::string& name, const Rules& rules, bool as_json, const Context& context) {
  if (as_json)
    return print(relay::format(
        "{}\n", json::serialize(json::object{
                    {"name", name}, {"rules", parse_json(protocol::write_policy(rules)).value_or(json::array{})}})));
  Table columns{{"FROM", "ACTION", "MEANING"}};
  for (const auto& rule : rules)
    columns.add({sanitize(rule.from == protocol::kEveryone ? "everyone" : rule.from, Lines::Join),
                 std::string{name_of(rule.action)}, std::string{meaning_of(rule.action)}});
  const bool all_named = std::ranges::find(rules, protocol::kEveryone, &DeliveryPolicyRule::from) != rules.end();
  if (!all_named) columns.add({rules.empty() ? "everyone" : "everyone else", "accept", "delivered"});
  print(columns.text(context.paint, context.width()));
}

ExitCode run(const Invocation& invocation, Context& context) {
  const auto name = invocation.argument(0), typed = invocation.argument(1);
  const auto action = std::ranges::find(kActions, typed, [](DeliveryPolicyAction each) { return name_of(each); });
  if (!typed.empty() && action == std::end(kActions))
    return report_error(
        relay::format("unknown action '{}': choose accept, hold or refuse", sanitize(typed, Lines::Join)),
        ExitCode::Usage);
  const bool clear = invocation.has("--clear");
  if (clear && !typed.empty()) return report_error("--clear takes no action; leave the action out", ExitCode::Usage);
  if (!clear && typed.empty() && invocation.has("--from"))
    return report_error("--from needs an action (accept, hold or refuse) or --clear", ExitCode::Usage);
  const auto from = invocation.value("--from").value_or(std::string{protocol::kEveryone});
  if (from != protocol::kEveryone) RELAY_CLI_USAGE(protocol::check_agent_name(from));
  auto connection = RELAY_CLI_TRY(join_workspace(context));
  const auto current = RELAY_CLI_TRY(send_control(connection, {{"action", "policy"}, {"agent", name}}));
  if (current.refusal) return report_error(*current.refusal);
  auto rules = RELAY_CLI_TRY(parse_rules(current));
  if (clear || !typed.empty()) {
    const auto previous = rules;
    if (!clear)
      rules = with_rule(std::move(rules), {from, *action});
    else if (invocation.has("--from"))
      std::erase_if(rules, [&](const DeliveryPolicyRule& rule) { return rule.from == from; });
    else
      rules.clear();
    const auto wanted = RELAY_CLI_TRY(parse_json(protocol::write_policy(rules)));
    const auto done =
        RELAY_CLI_TRY(send_control(connection, {{"action", "policy"}, {"agent", name}, {"rules", wanted}}));
    if (done.refusal) return report_error(*done.refusal);
    const auto holds = [](const DeliveryPolicyRule& rule) { return rule.action == DeliveryPolicyAction::Hold; };
    const bool held = integer_member(done.result, "held").value_or(0) > 0;
    if (held && std::ranges::any_of(previous, holds) && !std::ranges::any_of(rules, holds))
      print_notice(
          relay::format("messages held before stay held until: agent-relay flush {}", sanitize(name, Lines::Join)));
  }
  show(name, rules, invocation.has("--json"), context);
  return ExitCode::Ok;
}

constexpr Argument kArguments[] = {
    {.name = "NAME", .description = "the agent", .completes = CompletionKind::Agents},
    {.name = "[ACTION]",
     .arity = Arity::Optional,
     .description = "accept, hold or refuse; default: show the rules",
     .choices = "accept|hold|refuse"},
};
constexpr Option kOptions[] = {
    {.name = "--from",
     .value = "WHO",
     .description = "the sender that the rule is for; default everyone",
     .completes = CompletionKind::Agents},
    {.name = "--clear", .description = "remove all rules, or the one for --from"},
    kJsonOption,
};

}  // namespace

const Command kPolicy = {
    .name = "policy",
    .group = Group::Control,
    .usage = "policy NAME [ACTION]",
    .summary = "set whose messages an agent accepts",
    .arguments = kArguments,
    .options = kOptions,
    .listed = false,
    .example = "agent-relay policy Bob hold --from Mallory",
    .details =
        "A rule for a name takes precedence over the one for everyone; without rules, all messages are accepted. Held\n"
        "messages stay pending until `agent-relay flush NAME`; refused ones are not stored, and their sender gets\n"
        "REFUSED.",
    .needs_daemon = true,
    .run = run,
};

}  // namespace relay::cli
