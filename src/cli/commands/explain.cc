/// `agent-relay explain NAME`
#include "adapters/adapter.h"
#include "base/format.h"
#include "cli/commands/commands.h"
#include "cli/framework/context.h"
#include "cli/framework/failure.h"
#include "cli/framework/invocation.h"
#include "cli/render/times.h"
#include "cli/wire/control_request.h"
#include "cli/wire/host_connection.h"
#include "cli/wire/json_fields.h"
#include "cli/wire/policy_settings.h"
#include "cli/wire/workspace.h"
#include "config/settings.h"
#include "profiles/registry.h"
#include "protocol/control.h"

namespace relay::cli {
namespace {

constexpr std::size_t kPromptColumns = 100;

/// Messages for an idle agent are typed, unless it has a native interface for them.
bool is_typed_into(const json::object& answer) {
  const auto* interfaces = object_member(answer, "interfaces");
  const auto* delivery = interfaces != nullptr ? object_member(*interfaces, "delivery") : nullptr;
  return delivery == nullptr || display_field(*delivery, "on-idle") == adapters::via::kTerminal;
}

/// Messages of the user are typed despite a native interface, which would present them as a peer's.
bool types_user_messages(const json::object& answer) {
  const auto* interfaces = object_member(answer, "interfaces");
  return interfaces != nullptr && display_field(*interfaces, "asUser") == adapters::via::kTerminal;
}

std::string meaning_of(std::string_view state, const json::object& answer) {
  if (bool_member(answer, "headless").value_or(false) && state != "blocked")
    return "it runs without a terminal: nothing is typed and no screen is read; messages reach it through its native "
           "interfaces, or stay pending";
  if (state == "idle") return "ready for a message";
  if (state == "typing")
    return is_typed_into(answer)         ? "its composer holds a draft; messages stay pending"
           : types_user_messages(answer) ? "its composer holds a draft; your messages stay pending until it is empty, "
                                           "messages from agents arrive beside it"
                                         : "its composer holds a draft; messages arrive beside it";
  if (state == "working") return "messages stay pending until it finishes";
  if (state == "blocked") return "it needs an answer, or shows an unknown screen; nothing is typed";
  if (display_field(answer, "profile") == profiles::kGeneric)
    return "no profile for this program: relay commands at the start of its lines are read, but nothing is typed into "
           "it; write a profile (docs/spec/profiles.md), or let it read $AGENT_RELAY_INBOX";
  return "it is unknown whether it is ready; nothing is typed";
}

/// The interfaces in use, the ones that failed, and the tokens used.
void add_interfaces(Table& facts, const json::object& answer) {
  if (const auto* interfaces = object_member(answer, "interfaces")) {
    const auto output = display_field(*interfaces, "output");
    facts.add({"output", output.empty() ? "none: no native interface works, and there is no screen" : output});
    if (const auto unread = display_field(answer, "unread"); !unread.empty()) facts.add({"not read now", unread});
    std::string modes;
    if (const auto* delivery = object_member(*interfaces, "delivery"))
      for (const auto& [mode, via] : *delivery)
        if (via.is_string())
          modes += relay::format("{}{} {}", modes.empty() ? "" : ", ", std::string_view{mode},
                                 display_field(*delivery, std::string_view{mode}));
    if (types_user_messages(answer)) modes += relay::format("; your messages: {}", adapters::via::kTerminal);
    facts.add({"delivery", modes});
    if (const auto prompts = display_field(*interfaces, "prompts"); !prompts.empty()) facts.add({"prompts", prompts});
  }
  if (const auto* failed = array_member(answer, "failedInterfaces"))
    for (const auto& value : *failed)
      if (const auto* one = value.if_object())
        facts.add({"failed", display_field(*one, "via") + ": " + display_field(*one, "reason")});
  if (const auto failure = display_field(answer, "lastFailure"); !failure.empty()) facts.add({"last failure", failure});
  if (const auto* usage = object_member(answer, "usage")) {
    const auto count = [&](std::string_view name) { return integer_member(*usage, name).value_or(0); };
    const auto cost = number_member(*usage, "cost");
    facts.add(
        {"usage", relay::format("{} tokens in, {} out, {} from cache{}; source: {}", count("input"), count("output"),
                                count("cacheRead"), cost ? relay::format(", ${:.4f}", *cost) : std::string{},
                                display_field(*usage, "source"))});
  }
}

/// The pending prompts, and how the user answers them.
void add_prompts(Table& facts, const json::object& answer, std::string_view agent) {
  for (const auto* prompt : objects_in(answer, "prompts")) {
    const auto id = display_field(*prompt, "id");
    const auto summary = display_field(*prompt, "summary");
    const auto line = truncate(summary, kPromptColumns);
    facts.add({"prompt", line});
    if (line != summary) facts.add({"", relay::format("full text: agent-relay attach {} --print", agent)});
    if (!bool_member(*prompt, "canAnswer").value_or(true))
      facts.add({"", relay::format("answer it on the agent's screen: agent-relay attach {}", agent)});
    else if (display_field(*prompt, "kind") == "permission")
      facts.add({"", relay::format("answer it with: agent-relay approve {} --prompt {}, or deny", agent, id)});
    else
      facts.add(
          {"",
           relay::format(
               "answer it with: agent-relay answer {} --prompt {} ANSWER; list the choices with: agent-relay questions",
               agent, id)});
  }
}

/// The preset and the rules of config.toml that are about this agent, as the daemon reads them.
json::object permissions_for(std::string_view agent, const Context& context) {
  json::object in_force{{"file", context.home.config_file}};
  const auto policy = load_policy(context.home);
  if (!policy) {
    in_force["error"] = policy.error().message();
    return in_force;
  }
  in_force["preset"] = policy->preset();
  json::array rules;
  for (const auto& rule : policy->own_rules_for(agent)) rules.emplace_back(rule);
  in_force["rules"] = std::move(rules);
  return in_force;
}

/// How an agent treats requests that no relay rule covers, by the permission mode that it reports.
struct ModeMeaning {
  std::string_view profile, mode, meaning;
};
constexpr std::string_view kNeverAsks = "it never asks you";
constexpr ModeMeaning kModeMeanings[] = {
    {"claude", "acceptEdits", "it edits files without asking, and its own dialog asks you about the rest"},
    {"claude", "auto", "its own check approves or denies, and its dialog asks you only about the rest"},
    {"claude", "plan", "it reads and plans, and its own dialog asks you before it changes anything"},
    {"claude", "dontAsk", "it denies what its own rules do not allow, without asking you"},
    {"claude", "bypassPermissions", kNeverAsks},
    {"codex", "never", kNeverAsks},
    {"codex", "on-failure", "its own dialog asks you when its sandbox stopped a command"},
    {"codex", "on-request", "its own dialog asks you when it wants more than its sandbox allows"},
    {"codex", "untrusted", "its own dialog asks you before every command it does not trust"},
    {"gemini", "auto_edit", "it edits files without asking, and its own dialog asks you about the rest"},
    {"gemini", "yolo", kNeverAsks},
};

/// The mode dates from the start or the last hook; a key pressed since may have changed it.
std::string own_mode_text(const json::object& answer) {
  const auto mode = display_field(answer, "permissionMode");
  if (mode.empty()) return "its own permission mode decides what its dialog asks you; it has not reported the mode";
  std::string_view meaning =
      mode == "default" ? "its own dialog asks you" : "the agent decides what its own dialog asks you";
  const auto profile = display_field(answer, "profile");
  for (const auto& each : kModeMeanings)
    if (each.profile == profile && each.mode == mode) meaning = each.meaning;
  return relay::format("mode {}: {} (as last reported)", mode, meaning);
}

void add_permissions(Table& facts, const json::object& answer) {
  const auto* in_force = object_member(answer, "permissions");
  if (in_force == nullptr) return;
  if (const auto error = display_field(*in_force, "error"); !error.empty())
    return facts.add({"permissions", relay::format("no rule is in force: {}; {}", error, own_mode_text(answer))});
  const auto preset = display_field(*in_force, "preset");
  const auto* rules = array_member(*in_force, "rules");
  const auto own = rules == nullptr ? 0 : rules->size();
  std::string sources;
  if (preset != permissions::kNoPreset) sources = relay::format("preset {}", preset);
  if (own > 0) sources += relay::format("{}{} of your rules", sources.empty() ? "" : " and ", own);
  facts.add({"permissions", relay::format("{}; {}",
                                          sources.empty() ? "no rule approves or denies anything"
                                                          : sources + " (docs/permissions.md), and for the rest",
                                          own_mode_text(answer))});
  const auto* by_rules = object_member(answer, "approvedByRules");
  if (by_rules == nullptr) return;
  const auto count = integer_member(*by_rules, "count").value_or(0);
  facts.add(
      {"", relay::format("{} approved without asking you, the last by {}", count, display_field(*by_rules, "last"))});
}

void add_events(Table& facts, const json::object& answer) {
  const auto* events = object_member(answer, "events");
  if (events == nullptr) return;
  const auto count = [&](std::string_view name) { return integer_member(*events, name).value_or(0); };
  facts.add({"events", relay::format("{} sent, {} pending{}", count("sent"), count("pending"),
                                     count("dropped") > 0 ? relay::format(", {} dropped", count("dropped")) : "")});
}

void add_held_keys(Table& facts, const json::object& answer) {
  const auto* held = object_member(answer, "heldKeys");
  if (held == nullptr) return;
  const auto discarded = integer_member(*held, "discarded").value_or(0);
  facts.add(
      {"held keys",
       relay::format("{} bytes: {}{}", integer_member(*held, "bytes").value_or(0), display_field(*held, "reason"),
                     discarded > 0 ? relay::format("; {} more bytes of a paste were discarded", discarded) : "")});
}

std::string interface_of(const json::object& delivery) {
  const auto via = display_field(delivery, "via");
  if (via.empty()) return "";
  return via == adapters::via::kTerminal ? "typed" : "via " + via;
}

/// The pending messages at the host, and the number of those that the daemon holds.
void print_pending(const json::object& answer, const Context& context) {
  const auto pending = objects_in(answer, "pending");
  const auto at_daemon = integer_member(answer, "atDaemon");
  const auto name = display_field(answer, "name");
  const bool paused = answer.contains("paused");
  if (!pending.empty()) {
    print(relay::format("\n{} pending:\n", message_count(static_cast<std::int64_t>(pending.size()))));
    Table rows{{}};
    for (const auto* one : pending)
      rows.add({" ", display_field(*one, "id"), "from " + display_field(*one, "from"), display_field(*one, "mode"),
                interface_of(*one), display_field(*one, "reason")});
    print(rows.text(context.paint, context.width()));
  }
  if (at_daemon.value_or(0) > 0)
    print_wrapped(relay::format("\n{}{} held by the daemon{}\n", message_count(*at_daemon),
                                pending.empty() ? "" : " more",
                                paused ? relay::format(" while it is paused; resume with: agent-relay unpause {}", name)
                                       : relay::format("; see: agent-relay inbox {}", name)));
  else if (pending.empty() && paused && !at_daemon)
    print_wrapped(
        "\nno messages pending here; the daemon does not respond, so messages that it holds are not counted\n");
  else if (pending.empty())
    print_wrapped("\nno messages pending\n");
}

void print_text(const json::object& answer, const Context& context) {
  const auto& paint = context.paint;
  const auto state = display_field(answer, "state");
  const Millis in_state{std::max<WallMs>(0, context.now() - integer_member(answer, "since").value_or(context.now()))};
  const auto paused = display_field(answer, "paused");
  print_wrapped(relay::format(
      "{} is {} (for {}): {}\n\n", paint.name(display_field(answer, "name")), paint(Color::Bold, state),
      short_duration(in_state),
      paused.empty() ? meaning_of(state, answer) : paint(Color::Yellow, "paused; its messages are held")));
  Table facts{{}};
  if (!paused.empty())
    facts.add(
        {"paused", relay::format("{}; resume with: agent-relay unpause {}", paused, display_field(answer, "name"))});
  if (const auto* evidence = array_member(answer, "evidence"))
    for (const auto& value : *evidence)
      if (const auto* one = value.if_object())
        facts.add({display_field(*one, "source"), display_field(*one, "detail")});
  add_prompts(facts, answer, display_field(answer, "name"));
  if (const auto* composer = object_member(answer, "composer");
      composer != nullptr && !display_field(*composer, "draft").empty())
    facts.add({"draft", truncate(display_field(*composer, "draft"), 60)});
  if (const auto typed = integer_member(answer, "lastInputAt"))
    facts.add({"user", relay::format("typed {} ago", short_duration(Millis{context.now() - *typed}))});
  add_held_keys(facts, answer);
  facts.add({"program", relay::format("{} (pid {}), profile {}", display_field(answer, "cli"),
                                      integer_member(answer, "pid").value_or(0), display_field(answer, "profile"))});
  add_interfaces(facts, answer);
  add_permissions(facts, answer);
  add_events(facts, answer);
  facts.add(
      {"host", relay::format("pid {}, {}{}{}", integer_member(answer, "hostPid").value_or(0),
                             bool_member(answer, "attended").value_or(false) ? "in a terminal" : "without a terminal",
                             bool_member(answer, "connected").value_or(false) ? ", connected to the daemon"
                                                                              : ", not connected to the daemon",
                             relay::format(", {} attached", integer_member(answer, "attachedClients").value_or(0)))});
  if (const auto error = display_field(answer, "error"); !error.empty()) facts.add({"error", error});
  print(facts.text(paint, context.width()));
  print_pending(answer, context);
}

/// Adds the messages that the daemon holds: the host lists only those that it has.
void add_daemon_view(json::object& answer, const Context& context) {
  const auto name = string_member(answer, "name").value_or("");
  auto connection = join_workspace(context);
  if (!connection) return;  // `connected` is false then
  const auto reply = connection->request(protocol::MessageType::ListAgents,
                                         json::serialize(json::object{{"agent", name}, {"includeIdle", true}}));
  const auto listed = reply ? parse_json_object(*reply) : Result<json::object>{Failure{reply.error()}};
  if (!listed) return;
  for (const auto* agent : objects_in(*listed, "agents")) {
    if (string_member(*agent, "name") != name) continue;
    std::int64_t at_host = 0;
    for (const auto* one : objects_in(answer, "pending")) at_host += one->contains("id") ? 1 : 0;
    const auto pending = integer_member(*agent, "pending").value_or(0);
    answer["atDaemon"] = std::max<std::int64_t>(0, pending - at_host);
    if (!bool_member(*agent, "paused").value_or(false) || answer.contains("paused")) continue;
    answer["paused"] = protocol::describe_pause(string_member(*agent, "pauseReason").value_or(""));
  }
}

ExitCode run(const Invocation& invocation, Context& context) {
  const auto record = RELAY_CLI_TRY(find_host(context, invocation.argument(0), {.done = "explained"}));
  auto host = RELAY_CLI_TRY(HostConnection::open(record));
  auto answer = RELAY_CLI_TRY(host.request({{"method", "explain"}}));
  answer.erase("method");
  answer.erase("ok");
  answer["permissions"] = permissions_for(display_field(answer, "name"), context);
  add_daemon_view(answer, context);
  if (invocation.has("--json"))
    print(json::serialize(answer) + "\n");
  else
    print_text(answer, context);
  return ExitCode::Ok;
}

constexpr Argument kArguments[] = {
    {.name = "NAME", .description = "the agent", .completes = CompletionKind::Agents},
};
constexpr Option kOptions[] = {kJsonOption};

}  // namespace

const Command kExplain = {
    .name = "explain",
    .group = Group::Agents,
    .usage = "explain NAME",
    .summary = "show an agent's state, with the evidence",
    .hint = "[--json]",
    .arguments = kArguments,
    .options = kOptions,
    .example = "agent-relay explain Bob",
    .details =
        "Prints the state (starting, idle, typing, working, blocked, unknown) with the evidence for it, every message\n"
        "pending at the agent's host with its interface and its reason, and the number of messages that the daemon\n"
        "holds.",
    .run = run,
};

}  // namespace relay::cli
