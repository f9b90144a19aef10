/// `agent-relay completion SHELL`
#include "cli/completion.h"

#include "base/format.h"
#include "cli/commands/commands.h"
#include "cli/context.h"
#include "cli/help.h"
#include "cli/invocation.h"
#include "cli/man_page.h"

namespace relay::cli {
namespace {

// For the repository and for `make install`; not among the shells.
constexpr std::string_view kManual = "manual";  // writes docs/cli.md
constexpr std::string_view kManPage = "man";    // writes share/man/man1/agent-relay.1

ExitCode run(const Invocation& invocation, Context&) {
  const auto shell = invocation.argument(0);
  if (shell == kManual || shell == kManPage) {
    print(shell == kManual ? manual_markdown() : man_page());
    return ExitCode::Yes;
  }
  const auto script = completion_script(shell);
  if (!script)
    return complain(relay::format("there is no completion for {}: choose bash, zsh or fish", shell), ExitCode::Usage);
  print(*script);
  return ExitCode::Yes;
}

constexpr Argument kArguments[] = {
    {.name = "SHELL", .description = "bash, zsh or fish", .completes = Completes::Shells}};

}  // namespace

const Command kCompletion = {
    .name = "completion",
    .group = Group::Plumbing,
    .usage = "completion SHELL",
    .summary = "print the completion script for bash, zsh or fish",
    .arguments = kArguments,
    .example = "source <(agent-relay completion bash)",
    .run = run,
};

}  // namespace relay::cli
