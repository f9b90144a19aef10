/// `agent-relay spawn NAME CLI [TASK]`
#include <filesystem>

#include "base/format.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/framework/context.h"
#include "cli/framework/invocation.h"
#include "cli/send/text_argument.h"
#include "cli/wire/named_outbox.h"
#include "cli/wire/names.h"
#include "cli/wire/workspace.h"
#include "host/control/host_record.h"
#include "protocol/names.h"
#include "protocol/worker_requests.h"
#include "pty/command.h"
#include "text/json_writer.h"
#include "text/utf8.h"

namespace relay::cli {
namespace {

constexpr std::chrono::milliseconds kStartTimeout{40'000};  // the daemon's own timeout is 30 s
constexpr std::chrono::milliseconds kApprovalTimeout{
    660'000};  // inside an agent the daemon may ask the user, for ten minutes

/// The current directory: relative to the project root, or absolute in a linked git worktree; empty at the root itself
/// and outside the project.
Result<std::string> own_directory(const Context& context) {
  const auto& root = context.project.root;
  const auto& tree = context.project.tree;
  std::error_code failed;
  auto directory = std::filesystem::current_path(failed).string();
  if (failed) return {};
  if (tree == root || (directory != tree && !directory.starts_with(tree + "/"))) {
    if (!directory.starts_with(root + "/")) return {};
    directory.erase(0, root.size() + 1);
  }
  if (!text::is_utf8(directory))
    return fail(
        "cannot start an agent here: the path of this directory is not UTF-8; rename it, or choose another with --cwd");
  return directory;
}

/// The agent gets the environment of this shell, not the daemon's: PATH, keys, proxies. It is sent over the socket
/// only, so that no secret in it is stored or passed as an argument.
Result<void> add_environment(text::JsonWriter& request) {
  std::size_t bytes = 0;
  request.begin_array("environment");
  for (const auto& variable : pty::inherited_environment()) {
    if (!text::is_utf8(variable)) {
      print_notice(relay::format("the variable {} is not UTF-8 and is not passed on",
                                 sanitize(variable.substr(0, variable.find('=')), Lines::Join)));
      continue;
    }
    bytes += variable.size() + 1;
    request.element(variable);
  }
  request.end();
  if (bytes <= protocol::kMaxEnvironmentBytes) return {};
  return fail(relay::format(
      "the environment of this shell has {} bytes, and at most {} can be passed on; unset large variables", bytes,
      protocol::kMaxEnvironmentBytes));
}

/// The SPAWN payload. The error is a usage error.
Result<std::string> make_request(const Invocation& invocation, const Context& context, const std::string& task) {
  const auto name = invocation.argument(0);
  if (const auto fine = protocol::check_agent_name(name); !fine)
    return fail(relay::format("\"{}\" is not a valid name: {}", name, fine.error().message()));
  const auto command = invocation.argument(1);
  if (command.find_first_not_of(" \t") == std::string::npos)
    return fail("spawn needs the program to run, for example: agent-relay spawn Bob claude");
  std::error_code failed;
  std::string directory;
  if (!invocation.has("--cwd")) {
    directory = RELAY_TRY(own_directory(context));
  } else {
    directory = std::filesystem::absolute(invocation.value("--cwd").value_or(""), failed).lexically_normal().string();
    if (failed || !std::filesystem::is_directory(directory, failed))
      return fail(relay::format("no directory {}; create it, or choose another with --cwd", directory));
  }
  for (const auto& text : {name, command, task, directory})
    if (!text::is_utf8(text)) return fail("the arguments are not UTF-8; convert them first, for example with iconv");
  text::JsonWriter request;
  request.field("name", name).field("cli", command).optional("task", task).optional("cwd", directory);
  request.optional("team", invocation.value("--team").value_or(""));
  request.optional("role", invocation.value("--role").value_or(""));
  request.optional("model", invocation.value("--model").value_or(""));
  request.field("spawnerName", RELAY_TRY(sender_name(invocation, "--from", context)));
  RELAY_TRY(add_environment(request));
  return request.take();
}

ExitCode print_result(const json::object& result, const Context& context, bool as_json) {
  if (!bool_member(result, "success").value_or(false)) {
    const auto code = string_member(result, "code").value_or("");
    return report_error(string_member(result, "error").value_or("not started"),
                        code.empty() ? ExitCode::Failed : ExitCode::Refused, code);
  }
  const auto name = string_member(result, "name").value_or("");
  const auto host_pid = integer_member(result, "pid").value_or(0);
  const auto host = host::find_host(context.project.hosts, name);  // none when the agent has exited since
  const auto task = string_member(result, "taskId").value_or("");
  if (as_json) {
    json::object answer = {{"name", name}, {"hostPid", host_pid}};
    if (host) answer["pid"] = host->agent_pid;
    if (!task.empty()) answer["taskId"] = task;
    print(json::serialize(answer) + "\n");
    return ExitCode::Ok;
  }
  print_wrapped(relay::format("started {} (pid {}){}\n", sanitize(name, Lines::Join), host ? host->agent_pid : host_pid,
                              task.empty() ? "" : "  task " + sanitize(task, Lines::Join)));
  if (!task.empty())
    print_notice(relay::format("follow its task with: agent-relay trace {}", sanitize(task, Lines::Join)));
  return ExitCode::Ok;
}

ExitCode run(const Invocation& invocation, Context& context) {
  const auto task = RELAY_CLI_TRY(read_text_argument(invocation.rest(2)));
  const auto who = RELAY_CLI_USAGE(sender_name(invocation, "--from", context));
  const auto request = RELAY_CLI_USAGE(make_request(invocation, context, task));
  auto connection = RELAY_CLI_TRY(join_workspace(context));
  const auto timeout = context.environment("AGENT_RELAY_HOST_SOCKET") ? kApprovalTimeout : kStartTimeout;
  const auto payload =
      RELAY_CLI_TRY(connection.request(protocol::MessageType::Spawn, request, timeout, sender_token(context, who)));
  return print_result(RELAY_CLI_TRY(parse_json_object(payload)), context, invocation.has("--json"));
}

constexpr Argument kArguments[] = {
    {.name = "NAME", .description = "the name of the agent"},
    {.name = "CLI",
     .description = "the program; in quotes with its arguments, which are split at spaces",
     .completes = CompletionKind::Programs},
    {.name = "[TASK]", .arity = Arity::Any, .description = "its first message; - reads it from stdin", .is_text = true},
};
constexpr Option kOptions[] = {
    {.name = "--cwd",
     .value = "DIR",
     .description = "its working directory (default: this one, or the project's root)",
     .completes = CompletionKind::Files},
    {.name = "--team", .value = "NAME", .description = "its team"},
    {.name = "--role", .value = "ROLE", .description = "its role in the team, shown in events"},
    {.name = "--model", .value = "MODEL", .description = "the model, for an agent that takes one"},
    {.name = "--from", .value = "NAME", .description = "the spawner; default $AGENT_RELAY_NAME, $USER or human"},
    kJsonOption,
};

}  // namespace

const Command kSpawn = {
    .name = "spawn",
    .group = Group::Agents,
    .usage = "spawn NAME CLI",
    .summary = "run an agent in the background",
    .hint = "[TASK]",
    .arguments = kArguments,
    .options = kOptions,
    .example = "agent-relay spawn Bob claude \"review the last commit, and tell Alice what you find\"",
    .details =
        "Exits with 0 once the agent runs and its task is stored; the task is delivered when the agent is ready, like\n"
        "any message. The agent keeps running when this shell, or the daemon, exits. `attach` shows its screen,\n"
        "`release` stops it. It gets the environment of this shell (PATH, keys), which is not written to disk.",
    .needs_daemon = true,
    .run = run,
};

}  // namespace relay::cli
