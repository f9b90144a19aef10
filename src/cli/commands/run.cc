/// `agent-relay [-n NAME] CMD…`
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

#include "base/format.h"
#include "base/log.h"
#include "base/unique_fd.h"
#include "cli/agent/host_setup.h"
#include "cli/agent/tmux_agent.h"
#include "cli/commands/commands.h"
#include "cli/framework/context.h"
#include "cli/framework/failure.h"
#include "cli/framework/invocation.h"
#include "cli/wire/names.h"
#include "cli/wire/start_daemon.h"
#include "host/host_process.h"
#include "host/spawn_protocol.h"
#include "profiles/registry.h"
#include "protocol/names.h"
#include "pty/child.h"
#include "pty/inherited.h"

namespace relay::cli {
namespace {

constexpr std::int64_t kMaxDescriptor = 1'000'000;

/// Reports to the starter, which waits on a pipe, in one line: ready, or the error.
class Starter {
 public:
  explicit Starter(int fd) : fd_{fd} {
    if (fd >= 0) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  }
  void ready(pid_t pid) { write_line(relay::format("{}{}\n", host::kReadyPrefix, pid)); }
  void failed(const Error& why) { write_line(relay::format("{}{}\n", host::kErrorPrefix, why.message())); }

 private:
  void write_line(const std::string& line) {
    if (fd_) (void)!::write(fd_.get(), line.data(), line.size());
    fd_.reset();
  }
  UniqueFd fd_;
};

Result<HostRequest> parse_request(const Invocation& invocation, const Context& context) {
  HostRequest request;
  if (invocation.has("--name")) request.name = RELAY_TRY(sender_name(invocation, "--name", context));
  if (protocol::is_reserved_name(request.name))
    return fail(relay::format("the name '{}' is reserved; choose another with --name", request.name));
  for (std::size_t i = 0; i < invocation.argument_count(); ++i) request.argv.push_back(invocation.argument(i));
  request.profile = invocation.value("--profile").value_or("");
  if (invocation.has("--profile")) RELAY_TRY(profiles::find_profile(request.profile, user_profiles(context.home)));
  request.detached = invocation.has("--detached");
  if (!request.detached) request.streams = pty::matching_streams();
  // Without a terminal its model gets exactly what it gets without agent-relay.
  const bool headless = request.streams == pty::Streams::Inherited && !invocation.has("--tmux");
  request.instruct = headless ? invocation.has("--instructions")
                              : !invocation.has("--no-instructions") && !invocation.has("--skip-instructions");
  request.spawned = invocation.has("--spawned");
  request.model = invocation.value("--model").value_or("");
  const auto variable_of = [&](std::string_view variable) {
    return context.environment(std::string{variable}).value_or("");
  };
  request.spawner = variable_of(host::kSpawnerVariable);
  request.team = variable_of(host::kTeamVariable);
  request.task = variable_of(host::kTaskVariable);
  return request;
}

host::StartProgram start_here(net::AsioLoop& loop, const pty::Command& command) {
  return
      [&loop, &command](pty::WindowSize size, pty::ProgramListener& listener) -> Result<std::unique_ptr<pty::Program>> {
        return RELAY_TRY(pty::Child::spawn(loop, command, size, listener));
      };
}

/// Runs the same command again as a background host, with its agent in tmux.
ExitCode run_host_for_tmux(const Invocation& invocation, const HostRequest& request, Context& context) {
  const auto name = request.name.empty() ? unused_name(context) : request.name;
  std::vector<std::string> words = {"run", "--detached", "--in-tmux", relay::format("--ready-fd={}", host::kReadyFd),
                                    "--name=" + name};
  for (const std::string option : {"--profile", "--model"})
    if (const auto value = invocation.value(option)) words.push_back(option + "=" + *value);
  if (!request.instruct) words.emplace_back("--no-instructions");
  words.emplace_back("--");
  words.insert(words.end(), request.argv.begin(), request.argv.end());
  RELAY_CLI_TRY(run_in_tmux(context, name, std::move(words)));
  return ExitCode::Ok;
}

/// A background host writes to the daemon's log; one at a terminal writes there only with `debug` set.
void open_host_log(bool detached, const Context& context) {
  const auto settings = config::load_settings(context.home, context.environment);
  const bool explains = settings && settings->debug();
  if (detached) return log::open_stderr(explains ? log::Level::Debug : log::Level::Info);
  if (!explains) return;
  if (const auto opened = log::open_file(context.home.daemon_log, log::Level::Debug); !opened)
    print_notice(relay::format("debug lines are not written: {}", opened.error().message()));
}

/// Exits like the program, so that a shell sees the same code and an interrupted script stops.
ExitCode exit_like(const pty::ExitStatus& status, bool headless) {
  if (headless && status.kind == pty::ExitStatus::Kind::Signalled) {
    constexpr rlimit kNoCore{};
    ::setrlimit(RLIMIT_CORE, &kNoCore);
    std::signal(status.value, SIG_DFL);
    sigset_t one;
    ::sigemptyset(&one);
    ::sigaddset(&one, status.value);
    ::sigprocmask(SIG_UNBLOCK, &one, nullptr);
    ::raise(status.value);
  }
  return static_cast<ExitCode>(status.shell_code());
}

ExitCode run(const Invocation& invocation, Context& context) {
  auto inherited = pty::inheritable_descriptors();  // before this process opens any
  const auto fd = RELAY_CLI_USAGE(invocation.number("--ready-fd", 3, kMaxDescriptor, -1));
  Starter starter{static_cast<int>(fd)};
  auto request = parse_request(invocation, context);
  if (!request) {
    starter.failed(request.error());
    return report_error(request.error().message(), ExitCode::Usage);
  }
  if (!request->detached && ::isatty(STDERR_FILENO) == 1) print_system_directory_notice(context);
  if (!request->detached && context.may_start && !invocation.has("--no-start"))
    if (const auto ready = ensure_workspace(context); !ready && ::isatty(STDERR_FILENO) == 1)
      print_notice(relay::format("cannot start the daemon: {}", ready.error().message()));  // the agent runs without it
  if (invocation.has("--tmux") && !request->detached) return run_host_for_tmux(invocation, *request, context);
  if (!request->detached) request->kept_descriptors = std::move(inherited);
  open_host_log(request->detached, context);
  net::AsioLoop loop;
  auto setup = prepare_host(context, *request, loop);
  if (!setup) {
    starter.failed(setup.error());
    return report_error(setup.error());
  }
  auto& options = setup->options;
  const bool headless = options.record.headless;
  if (options.profile.name == profiles::kGeneric && !request->detached && !headless && ::isatty(STDERR_FILENO) == 1)
    print_notice(
        relay::format("no profile for {}: relay commands at the start of its lines are read, but nothing is typed into "
                      "it; messages for {} are in $AGENT_RELAY_INBOX",
                      options.record.cli, options.record.name));
  options.start = invocation.has("--in-tmux") ? start_in_tmux(loop, setup->command, options.record.name)
                                              : start_here(loop, setup->command);
  options.on_started = [&starter](Result<pid_t> pid) { pid ? starter.ready(*pid) : starter.failed(pid.error()); };
  host::HostProcess host{loop, std::move(options), *setup->outbox.outbox};
  const auto ended = host.run();
  setup->folder.reset();
  setup->outbox.outbox.reset();  // frees the name before the socket closes, for a caller that waits for that
  if (!ended) {
    starter.failed(ended.error());
    return report_error(ended.error());
  }
  if (!host.error().empty() && (request->detached || ::isatty(STDERR_FILENO) == 1)) print_notice(host.error());
  return exit_like(*ended, headless);
}

constexpr Argument kArguments[] = {{.name = "CMD",
                                    .arity = Arity::Many,
                                    .description = "the agent and its arguments",
                                    .completes = CompletionKind::Programs}};
constexpr Option kOptions[] = {
    {.name = "--name", .value = "NAME", .description = "the agent's name (also -n); default: a generated one"},
    {.name = "--profile", .value = "NAME", .description = "how to read its screen; default: by the program's name"},
    {.name = "--model", .value = "MODEL", .description = "the model, for an agent that takes one"},
    {.name = "--no-start",
     .description = "do not start the daemon; the agent's messages are spooled until the daemon runs"},
    {.name = "--tmux", .description = "run in a tmux session, relay-NAME; the agent keeps running after you detach"},
    {.name = "--no-instructions", .description = "start the agent without instructions for messaging"},
    {.name = "--skip-instructions", .description = "the same as --no-instructions", .hidden = true},
    {.name = "--instructions", .description = "give it the instructions even without a terminal"},
    {.name = "--in-tmux", .description = "run the program in a pane", .hidden = true},
    {.name = "--detached", .description = "without a terminal", .hidden = true},
    {.name = "--spawned", .description = "started by the daemon", .hidden = true},
    {.name = "--ready-fd", .value = "N", .description = "where to report that it runs", .hidden = true},
};

}  // namespace

const Command kRun = {
    .name = "run",
    .group = Group::Everyday,
    .usage = "run [-n NAME] CMD",
    .summary = "run an agent that others can message",
    .arguments = kArguments,
    .options = kOptions,
    .example = "agent-relay -n Bob claude",
    .details =
        "`agent-relay claude` is short for `agent-relay run claude`. Starts the daemon when needed.\n"
        "The agent looks and behaves as it does without agent-relay. When it writes `@relay:Bob hello` at the start\n"
        "of a line, Bob gets the message at the end of that turn. A message to the agent arrives when the agent is\n"
        "idle; it is never typed over your draft or into a dialog. Agents that accept instructions get those for\n"
        "messaging, which `agent-relay skill` prints. `agent-relay attach NAME` shows the agent's screen in another\n"
        "terminal. Exits when the agent exits, with its exit code.\n"
        "\n"
        "When stdin or stdout is not a terminal (`claude -p hello | cat`), the program inherits the descriptors\n"
        "themselves, so its bytes, end of file and exit code are those of a run without agent-relay. Nothing is typed\n"
        "to it and no screen is read: messages reach it through its native interfaces, or stay pending. It gets no\n"
        "instructions about the relay, so that its model reads, counts and prints the same tokens; `--instructions`\n"
        "changes that.",
    .takes_rest = true,
    .run = run,
};

}  // namespace relay::cli
