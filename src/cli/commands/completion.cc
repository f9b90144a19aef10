/// `agent-relay completion SHELL`
#include "cli/framework/completion.h"

#include "base/format.h"
#include "cli/commands/commands.h"
#include "cli/framework/completion_names.h"
#include "cli/framework/context.h"
#include "cli/framework/help.h"
#include "cli/framework/invocation.h"
#include "cli/framework/man_page.h"
#include "cli/wire/daemon_connection.h"
#include "config/system_token.h"

namespace relay::cli {
namespace {

// For the repository and `make install`; not listed as shells.
constexpr std::string_view kManual = "manual";  // writes docs/cli.md
constexpr std::string_view kManPage = "man";    // writes share/man/man1/agent-relay.1

ExitCode print_lines(const std::vector<std::string>& names) {
  std::string lines;
  for (const auto& name : names) lines += name + "\n";
  print(lines);
  return ExitCode::Ok;
}

/// For the completion scripts: one name per line. Without a daemon it prints nothing and starts none.
ExitCode list_names(std::string_view kind, const Context& context) {
  if (kind == "hosts") return print_lines(names_of_hosts(context.project.hosts));
  auto connection = DaemonConnection::open(config::socket_to_connect(context.project.socket));
  if (!connection || !connection->say_hello(config::read_system_token(context.home))) return ExitCode::NoDaemon;
  return print_lines(names_of_kind(*connection, kind).value_or(std::vector<std::string>{}));
}

ExitCode run(const Invocation& invocation, Context& context) {
  if (const auto kind = invocation.value("--names")) return list_names(*kind, context);
  const auto shell = invocation.argument(0);
  if (shell.empty())
    return report_error("completion needs SHELL; usage: agent-relay completion SHELL", ExitCode::Usage);
  if (shell == kManual || shell == kManPage) {
    print(shell == kManual ? manual_markdown() : man_page());
    return ExitCode::Ok;
  }
  const auto script = completion_script(shell);
  if (!script)
    return report_error(relay::format("no completion for {}: choose bash, zsh or fish", shell), ExitCode::Usage);
  print(*script);
  return ExitCode::Ok;
}

constexpr Argument kArguments[] = {{.name = "SHELL",
                                    .arity = Arity::Optional,  // the scripts themselves call with --names
                                    .description = "bash, zsh or fish",
                                    .completes = CompletionKind::Shells}};
constexpr Option kOptions[] = {
    {.name = "--names",
     .value = "KIND",
     .description = "the names to offer, one per line",
     .choices = "agents|channels|recipients|permissions|questions|hosts|messages",
     .hidden = true},
};

}  // namespace

const Command kCompletion = {
    .name = "completion",
    .group = Group::Plumbing,
    .usage = "completion SHELL",
    .summary = "print the completion script for bash, zsh or fish",
    .arguments = kArguments,
    .options = kOptions,
    .example = "source <(agent-relay completion bash)",
    .run = run,
};

}  // namespace relay::cli
