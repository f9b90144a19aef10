/// `agent-relay completion SHELL`
#include "cli/completion.h"

#include "base/format.h"
#include "cli/commands/commands.h"
#include "cli/context.h"
#include "cli/help.h"
#include "cli/invocation.h"

namespace relay::cli {
namespace {

constexpr std::string_view kManual = "manual";  // writes docs/cli.md

ExitCode run(const Invocation& invocation, Context&) {
  const auto shell = invocation.argument(0);
  if (shell == kManual) {
    print(manual_markdown());
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
