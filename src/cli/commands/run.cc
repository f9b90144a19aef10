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

/// Whoever started us in the background hears one line: that we are ready, or why not.
class Starter {
 public:
  explicit Starter(int fd) : fd_{fd} {
    if (fd >= 0) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  }
  void ready(pid_t pid) { say(relay::format("{}{}\n", host::kReadyPrefix, pid)); }
  void failed(const Error& why) { say(relay::format("{}{}\n", host::kErrorWord, why.message())); }

 private:
  void say(const std::string& line) {
    if (fd_) (void)!::write(fd_.get(), line.data(), line.size());
    fd_.reset();
  }
  UniqueFd fd_;
};

Result<HostRequest> wish_in(const Invocation& invocation, const Context& context) {
  HostRequest wish;
  if (invocation.has("--name")) wish.name = RELAY_TRY(sender_name(invocation, "--name", context));
  if (protocol::is_reserved_name(wish.name))
    return fail(relay::format("the name '{}' is reserved; choose another with --name", wish.name));
  for (std::size_t i = 0; i < invocation.argument_count(); ++i) wish.words.push_back(invocation.argument(i));
  wish.profile = invocation.value("--profile").value_or("");
  if (invocation.has("--profile")) RELAY_TRY(profiles::find_profile(wish.profile, own_profiles(context.home)));
  wish.detached = invocation.has("--detached");
  if (!wish.detached) wish.streams = pty::streams_like_ours();
  // Without a terminal its model sees what it would see without us.
  const bool headless = wish.streams == pty::Streams::Inherited && !invocation.has("--tmux");
  wish.instruct = headless ? invocation.has("--instructions")
                           : !invocation.has("--no-instructions") && !invocation.has("--skip-instructions");
  wish.spawned = invocation.has("--spawned");
  wish.model = invocation.value("--model").value_or("");
  const auto told = [&](std::string_view variable) { return context.environment(std::string{variable}).value_or(""); };
  wish.spawner = told(host::kSpawnerVariable);
  wish.team = told(host::kTeamVariable);
  wish.task = told(host::kTaskVariable);
  return wish;
}

host::StartProgram start_here(net::AsioLoop& loop, const pty::Command& command) {
  return
      [&loop, &command](pty::WindowSize size, pty::ProgramListener& listener) -> Result<std::unique_ptr<pty::Program>> {
        return RELAY_TRY(pty::Child::spawn(loop, command, size, listener));
      };
}

/// The same words again, for a host in the background whose agent sits in tmux.
ExitCode hand_to_tmux(const Invocation& invocation, const HostRequest& wish, Context& context) {
  const auto name = wish.name.empty() ? unused_name(context) : wish.name;
  std::vector<std::string> words = {"run", "--detached", "--in-tmux", relay::format("--ready-fd={}", host::kReadyFd),
                                    "--name=" + name};
  for (const std::string option : {"--profile", "--model"})
    if (const auto value = invocation.value(option)) words.push_back(option + "=" + *value);
  if (!wish.instruct) words.emplace_back("--no-instructions");
  words.emplace_back("--");
  words.insert(words.end(), wish.words.begin(), wish.words.end());
  RELAY_CLI_TRY(run_in_tmux(context, name, std::move(words)));
  return ExitCode::Ok;
}

/// A host in the background writes to where the daemon's log is; one at a terminal only when it has to explain itself.
void open_host_log(bool detached, const Context& context) {
  const auto settings = config::load_settings(context.home, context.environment);
  const bool explains = settings && settings->debug();
  if (detached) return log::open_stderr(explains ? log::Level::Debug : log::Level::Info);
  if (!explains) return;
  if (const auto opened = log::open_file(context.home.daemon_log, log::Level::Debug); !opened)
    print_notice(relay::format("debug lines are not written: {}", opened.error().message()));
}

/// As the program ended, so do we: a shell then sees the same code, and a script that is interrupted stops.
ExitCode end_as(const pty::ExitStatus& status, bool headless) {
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
  auto handed_to_us = pty::inheritable_descriptors();  // before anything of ours is opened
  const auto fd = RELAY_CLI_USAGE(invocation.number("--ready-fd", 3, kMaxDescriptor, -1));
  Starter starter{static_cast<int>(fd)};
  auto wish = wish_in(invocation, context);
  if (!wish) {
    starter.failed(wish.error());
    return report_error(wish.error().message(), ExitCode::Usage);
  }
  if (!wish->detached && ::isatty(STDERR_FILENO) == 1) remark_common(context);
  if (!wish->detached && context.may_start && !invocation.has("--no-start"))
    if (const auto ready = ensure_workspace(context); !ready && ::isatty(STDERR_FILENO) == 1)
      print_notice(
          relay::format("the daemon does not start: {}", ready.error().message()));  // the agent runs all the same
  if (invocation.has("--tmux") && !wish->detached) return hand_to_tmux(invocation, *wish, context);
  if (!wish->detached) wish->kept_descriptors = std::move(handed_to_us);
  open_host_log(wish->detached, context);
  net::AsioLoop loop;
  auto lodging = prepare_host(context, *wish, loop);
  if (!lodging) {
    starter.failed(lodging.error());
    return report_error(lodging.error());
  }
  auto& options = lodging->options;
  const bool headless = options.record.headless;
  if (options.profile.name == profiles::kGeneric && !wish->detached && !headless && ::isatty(STDERR_FILENO) == 1)
    print_notice(
        relay::format("no profile knows {}: relay commands at the start of its lines are read, and nothing is typed "
                      "into it; messages for {} wait in $AGENT_RELAY_INBOX",
                      options.record.cli, options.record.name));
  options.start = invocation.has("--in-tmux") ? start_in_tmux(loop, lodging->command, options.record.name)
                                              : start_here(loop, lodging->command);
  options.on_started = [&starter](Result<pid_t> pid) { pid ? starter.ready(*pid) : starter.failed(pid.error()); };
  host::HostProcess host{loop, std::move(options), *lodging->outbox.outbox};
  const auto ended = host.run();
  lodging->folder.reset();
  lodging->outbox.outbox.reset();  // the name is free before the door closes: whoever waits for that may use it
  if (!ended) {
    starter.failed(ended.error());
    return report_error(ended.error());
  }
  if (!host.error().empty() && (wish->detached || ::isatty(STDERR_FILENO) == 1)) print_notice(host.error());
  return end_as(*ended, headless);
}

constexpr Argument kArguments[] = {{.name = "CMD",
                                    .arity = Arity::Many,
                                    .description = "the agent and its arguments",
                                    .completes = CompletionKind::Programs}};
constexpr Option kOptions[] = {
    {.name = "--name", .value = "NAME", .description = "the agent's name (also -n); default: a friendly one"},
    {.name = "--profile", .value = "NAME", .description = "how to read its screen; default: by the program's name"},
    {.name = "--model", .value = "MODEL", .description = "passed to an agent that takes one"},
    {.name = "--no-start", .description = "do not start the daemon; what the agent says is kept until it runs"},
    {.name = "--tmux", .description = "in a session of tmux, relay-NAME; detach and it goes on"},
    {.name = "--no-instructions", .description = "do not tell the agent how to talk to others"},
    {.name = "--skip-instructions", .description = "the same", .hidden = true},
    {.name = "--instructions", .description = "tell it so also where it has no terminal"},
    {.name = "--in-tmux", .description = "the program goes into a pane", .hidden = true},
    {.name = "--detached", .description = "without a terminal", .hidden = true},
    {.name = "--spawned", .description = "started by the daemon for somebody", .hidden = true},
    {.name = "--ready-fd", .value = "N", .description = "where to say that it runs", .hidden = true},
};

}  // namespace

const Command kRun = {
    .name = "run",
    .group = Group::Everyday,
    .usage = "run [-n NAME] CMD",
    .summary = "run an agent that others can talk to",
    .arguments = kArguments,
    .options = kOptions,
    .example = "agent-relay -n Bob claude",
    .details =
        "`agent-relay claude` is `agent-relay run claude`: the name of a known agent runs it. It starts the daemon.\n"
        "The agent looks and feels as without us. When it writes `@relay:Bob hello` at the start of a line, Bob\n"
        "gets the message once its turn is over; what others say to it is typed when it is idle and nobody is\n"
        "typing, never into a dialog. It is told how to talk to others where its program takes instructions;\n"
        "`agent-relay skill` prints them. Others can watch with `agent-relay attach NAME`. Ends as the agent ends.\n"
        "\n"
        "Where input or output is no terminal (`claude -p hello | cat`), the program gets the very descriptors,\n"
        "so its bytes, end of file and exit code are those of a run without us. Nothing is typed to it then and no\n"
        "screen is read: messages reach it by its own interfaces, or wait. Its model is told nothing of the relay, so\n"
        "that it sees, counts and prints the same tokens; `--instructions` tells it.",
    .takes_rest = true,
    .run = run,
};

}  // namespace relay::cli
