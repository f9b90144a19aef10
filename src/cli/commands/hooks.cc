/// `agent-relay hooks`
#include "base/format.h"
#include "base/json.h"
#include "cli/agent/self_path.h"
#include "cli/commands/commands.h"
#include "cli/doctor/agent_checks.h"
#include "cli/framework/context.h"
#include "cli/framework/failure.h"
#include "cli/framework/invocation.h"
#include "hooks/diff.h"
#include "hooks/install.h"
#include "pty/command.h"

namespace relay::cli {
namespace {

using hooks::AgentCli;

constexpr AgentCli kAgentsWithHooks[] = {AgentCli::Claude, AgentCli::Codex, AgentCli::Gemini};

/// Notices about the hooks just written.
void print_notices(AgentCli agent, const hooks::HooksFile& file, const hooks::EnvironmentBlock& environment) {
  if (file.target != file.path) print_notice(relay::format("{} is a link; {} was written", file.path, file.target));
  if (const auto why = hooks::hooks_blocked_reason(agent, environment); !why.empty()) {
    print_notice(relay::format("the hooks will not run: {}", why));
  }
  if (agent == AgentCli::Codex) {
    print_notice(
        "Codex asks once, at its next start, whether to trust these hooks; agents started with agent-relay do not ask");
  }
}

ExitCode change(AgentCli agent, bool install, bool dry_run, Context& context) {
  const auto environment = pty::inherited_environment();
  const auto program = RELAY_CLI_TRY(self_path_on(context.environment("PATH").value_or("")));
  const auto file = RELAY_CLI_TRY(hooks::read_hooks_file(agent, environment));
  const auto change =
      RELAY_CLI_TRY(install ? hooks::plan_install(agent, file, program) : hooks::plan_uninstall(agent, file));
  if (!change) {
    print_notice(install ? relay::format("nothing to do: {} already has all hooks", file.path)
                         : relay::format("nothing to do: {} has no agent-relay hooks", file.path));
    return ExitCode::Ok;
  }
  print(sanitize(hooks::unified_diff(file.text.value_or(""), change->text.value_or(""), file.target), Lines::Keep));
  if (dry_run) return ExitCode::Ok;
  RELAY_CLI_TRY(hooks::execute(file, *change));
  if (!install) {
    print_notice(change->text ? relay::format("removed the hooks from {}", file.path)
                              : relay::format("removed {}, which held nothing else", file.path));
    return ExitCode::Ok;
  }
  print_notice(change->makes_copy ? relay::format("wrote {}; the old file is {}", file.path, file.copy)
                                  : relay::format("wrote {}", file.path));
  print_notices(agent, file, environment);
  return ExitCode::Ok;
}

struct AgentHooks {
  AgentCli agent;
  std::string path;
  hooks::HooksStatus status;
};

AgentHooks inspect_hooks(AgentCli agent, const std::string& program, const hooks::EnvironmentBlock& environment) {
  const auto file = hooks::read_hooks_file(agent, environment);
  if (file) return {agent, file->path, hooks::status_of(agent, *file, program, environment)};
  hooks::HooksStatus unknown;
  unknown.problem = file.error().message();
  return {agent, hooks::user_hooks_file(agent, environment), std::move(unknown)};
}

json::object to_json(const AgentHooks& seen) {
  json::object out{{"agent", name_of(seen.agent)},
                   {"hooks", name_of(seen.status.state)},
                   {"file", seen.path},
                   {"program", seen.status.program},
                   {"stale", seen.status.stale}};
  if (!seen.status.blocked_reason.empty()) out["forbidden"] = seen.status.blocked_reason;
  if (!seen.status.problem.empty()) out["problem"] = seen.status.problem;
  return out;
}

std::string remark_on(const AgentHooks& seen) {
  const auto& status = seen.status;
  if (!status.problem.empty()) return "cannot be read: " + status.problem;
  if (!status.blocked_reason.empty()) return "will not run: " + status.blocked_reason;
  if (status.stale)
    return relay::format("calls {}, which is not this program: run hooks install again", status.program);
  return status.state == hooks::InstallState::Partly ? "some are missing: run hooks install again" : status.program;
}

ExitCode show(std::span<const AgentCli> agents, bool as_json, Context& context) {
  const auto environment = pty::inherited_environment();
  const auto program = RELAY_CLI_TRY(self_path_on(context.environment("PATH").value_or("")));
  json::array all;
  Table columns{{"AGENT", "HOOKS", "FILE", "REMARK"}};
  bool complete = true, any = false;
  for (const auto agent : agents) {
    const auto seen = inspect_hooks(agent, program, environment);
    any = any || seen.status.state != hooks::InstallState::No;
    complete = complete && seen.status.state == hooks::InstallState::Yes;
    all.push_back(to_json(seen));
    columns.add({std::string{name_of(agent)}, std::string{name_of(seen.status.state)}, sanitize(seen.path, Lines::Join),
                 sanitize(remark_on(seen), Lines::Join)});
  }
  print(as_json ? json::serialize(json::object{{"hooks", std::move(all)}}) + "\n"
                : columns.text(context.paint, context.width()));
  if (const auto unobserved = any ? hooks_unobserved(context) : std::nullopt)
    print_notice(relay::format("{}; {}", unobserved->message, unobserved->fix));
  return agents.size() > 1 || complete ? ExitCode::Ok : ExitCode::Failed;
}

ExitCode run(const Invocation& invocation, Context& context) {
  const auto action = invocation.argument(0);
  const auto name = invocation.argument(1);
  const auto agent = hooks::parse_agent_cli(name);
  if (action != "install" && action != "uninstall" && action != "status") {
    return report_error(
        relay::format("unknown verb '{}': choose install, uninstall or status", sanitize(action, Lines::Join)),
        ExitCode::Usage);
  }
  if (!agent && !(name.empty() && action == "status")) {
    return report_error(
        name.empty() ? relay::format("name an agent: agent-relay hooks {} claude", action)
                     : relay::format("no hooks for '{}': choose claude, codex or gemini", sanitize(name, Lines::Join)),
        ExitCode::Usage);
  }
  if (action == "status") {
    const std::span<const AgentCli> all{kAgentsWithHooks};
    return show(agent ? std::span<const AgentCli>{&*agent, 1} : all, invocation.has("--json"), context);
  }
  if (invocation.has("--json"))
    return report_error("--json is an option of: agent-relay hooks status", ExitCode::Usage);
  return change(*agent, action == "install", invocation.has("--dry-run"), context);
}

constexpr Argument kArguments[] = {
    {.name = "VERB", .description = "install, uninstall or status", .choices = "install|uninstall|status"},
    {.name = "[AGENT]",
     .arity = Arity::Optional,
     .description = "claude, codex or gemini; status: default all",
     .choices = "claude|codex|gemini"},
};

constexpr Option kOptions[] = {
    {.name = "--dry-run", .description = "print the diff and write nothing"},
    kJsonOption,
};

}  // namespace

const Command kHooks = {
    .name = "hooks",
    .group = Group::Plumbing,
    .usage = "hooks VERB [AGENT]",
    .summary = "install hooks for agents started without agent-relay",
    .hint = "[--dry-run]",
    .arguments = kArguments,
    .options = kOptions,
    .example = "agent-relay hooks install claude --dry-run",
    .details =
        "Claude Code and Codex started with agent-relay need none of this. Gemini CLI does, unless agent-relay runs\n"
        "as root: it takes hooks for a single run only from a file owned by root. `install` adds the hooks to your\n"
        "own settings of the agent (~/.claude/settings.json, ~/.codex/hooks.json, ~/.gemini/settings.json): it prints\n"
        "the diff, keeps everything else, and leaves a copy of the old file beside it. `uninstall` removes\n"
        "exactly these hooks. `status` exits with 1 when the agent you name does not have all of them.",
    .run = run,
};

}  // namespace relay::cli
