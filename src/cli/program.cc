#include "cli/program.h"

#include <algorithm>
#include <csignal>
#include <exception>

#include "base/format.h"
#include "cli/context.h"
#include "cli/help.h"
#include "cli/hook.h"
#include "cli/parse.h"
#include "cli/tmux_agent.h"
#include "cli/version.h"
#include "cli/workspace.h"
#include "pty/inherited.h"
#include "tmux/keeper.h"

namespace relay::cli {
namespace {

ExitCode carry_out(const WantsHelp& wish) {
  print(wish.command == nullptr ? overview() : help_of(*wish.command));
  return ExitCode::Yes;
}

ExitCode carry_out(const WantsVersion&) {
  print(relay::format("agent-relay {}\n", kVersion));
  return ExitCode::Yes;
}

ExitCode carry_out(const Run& wish) {
  auto context = RELAY_CLI_TRY(make_context());
  return wish.command->run(wish.invocation, context);
}

/// Asked of the words themselves, so that a mistake among them is told in JSON too.
bool wants_json(const std::vector<std::string>& words) {
  const auto options_end = std::find(words.begin(), words.end(), "--");
  return std::find(words.begin(), options_end, "--json") != options_end;
}

}  // namespace

int run_program(const std::vector<std::string>& words) {
  // For ourselves: the process that `run --tmux` puts into a pane.
  if (words.size() == 2 && words.front() == kTmuxKeeperWord) return tmux::keep(words.back());
  if (is_hook_call(words)) return run_hook(words.size() > 1 ? words[1] : "");
  (void)pty::signals_ignored_at_start();
  std::signal(SIGPIPE, SIG_IGN);  // a reader that left is an error code, not the end
  try {
    if (wants_json(words)) answer_in_json();
    const auto intent = parse_command_line(words);
    if (!intent) return static_cast<int>(complain(intent.error().message(), ExitCode::Usage));
    return static_cast<int>(std::visit([](const auto& wish) { return carry_out(wish); }, *intent));
  } catch (const std::exception& error) {  // out of memory, and what libraries throw
    return static_cast<int>(
        complain(relay::format("something failed that should not: {}", error.what()), ExitCode::No));
  }
}

}  // namespace relay::cli
