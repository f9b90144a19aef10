#include "cli/framework/program.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <exception>

#include "base/format.h"
#include "cli/agent/hook.h"
#include "cli/agent/host_setup.h"
#include "cli/agent/tmux_agent.h"
#include "cli/framework/context.h"
#include "cli/framework/failure.h"
#include "cli/framework/global_options.h"
#include "cli/framework/help.h"
#include "cli/framework/parse.h"
#include "cli/version.h"
#include "cli/wire/start_daemon.h"
#include "cli/wire/workspace.h"
#include "profiles/registry.h"
#include "pty/inherited.h"
#include "tmux/shim.h"

namespace relay::cli {
namespace {

ExitCode execute(const WantsHelp& help, bool) {
  const auto columns = terminal_columns(STDOUT_FILENO);
  print(help.command == nullptr ? overview(columns) : help_of(*help.command, columns));
  return ExitCode::Ok;
}

ExitCode execute(const WantsVersion&, bool) {
  print(relay::format("agent-relay {}\n", kVersion));
  return ExitCode::Ok;
}

ExitCode execute(const Run& run, bool may_start) {
  auto context = RELAY_CLI_TRY(make_context());
  context.may_start = may_start;
  if (run.command->needs_daemon && may_start) RELAY_CLI_TRY(ensure_workspace(context));
  return run.command->run(run.invocation, context);
}

/// Reads the raw arguments, so that a usage error is reported in JSON too.
bool wants_json(const std::vector<std::string>& words) {
  const auto options_end = std::find(words.begin(), words.end(), "--");
  return std::find(words.begin(), options_end, "--json") != options_end;
}

/// By the built-in profiles and the user's own.
bool is_agent(std::string_view word) {
  const auto home = config::find_home(config::process_environment());
  const auto profile =
      profiles::profile_for_program(word, home ? user_profiles(*home) : std::vector<profiles::UserProfile>{});
  return profile && profile->name != profiles::kGeneric;
}

int run_command_line(std::vector<std::string> words) {
  if (wants_json(words)) enable_json_errors();
  const auto global = take_global_options(words);
  if (!global) return static_cast<int>(report_error(global.error().message(), ExitCode::Usage));
  if (const auto entered = change_directory(global->directories); !entered)
    return static_cast<int>(report_error(entered.error().message(), ExitCode::Usage));
  const auto command_line = parse_command_line(words, is_agent);
  if (!command_line) return static_cast<int>(report_error(command_line.error().message(), ExitCode::Usage));
  return static_cast<int>(
      std::visit([&](const auto& parsed) { return execute(parsed, !global->no_start); }, *command_line));
}

}  // namespace

int run_program(const std::vector<std::string>& words) {
  // Internal: the process that `run --tmux` starts in a pane.
  if (words.size() == 2 && words.front() == kTmuxShimCommand) return tmux::run_shim(words.back());
  if (is_hook_call(words)) return run_hook(words.size() > 1 ? words[1] : "");
  (void)pty::signals_ignored_at_start();
  std::signal(SIGPIPE, SIG_IGN);  // a closed reader is an error code, not a signal
  try {
    return run_command_line(words);
  } catch (const std::exception& error) {  // out of memory, and exceptions of libraries
    return static_cast<int>(report_error(relay::format("internal error: {}", error.what()), ExitCode::Failed));
  }
}

}  // namespace relay::cli
