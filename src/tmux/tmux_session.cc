#include "tmux/tmux_session.h"

#include <fcntl.h>
#include <poll.h>

#include <array>
#include <charconv>

#include "base/format.h"
#include "tmux/commands.h"
#include "tmux/installed.h"

namespace relay::tmux {
namespace {

/// Without pauses tmux detaches a client that is five minutes behind; with them it reports the age of output, and
/// pauses (which would lose some) only after this many seconds: 46 days, nearly the maximum of its arithmetic.
const std::string kClientFlags = "pause-after=4000000";

/// Our environment without agent-specific variables: a server that we start passes it to all later sessions.
std::vector<std::string> environment_for_tmux() {
  auto all = pty::inherited_environment();
  std::erase_if(all, [](const std::string& entry) { return entry.starts_with("AGENT_RELAY_"); });
  return all;
}

Result<std::unique_ptr<ControlClient>> start_client(const TmuxSession& session, const std::vector<std::string>& command,
                                                    ControlListener& listener) {
  auto words = session.words;
  words.insert(words.end(), command.begin(), command.end());
  auto process = RELAY_TRY(Subprocess::start(session.tmux, words, environment_for_tmux()));
  return std::make_unique<ControlClient>(std::move(process), listener);
}

Failure no_session(const TmuxSession& session, const std::string& reason) {
  if (reason.starts_with("duplicate session"))
    return fail(
        Errc::SessionExists,
        format("the tmux session {} already exists, perhaps with an agent in it; attach to it with: tmux attach "
               "-t ={}, or end it with: tmux kill-session -t ={}",
               session.name, session.name, session.name));
  return fail(format("tmux did not create the session {}: {}", session.name, reason));
}

/// A server whose last session has just ended may accept us and then exit; nothing was created, so retry.
bool server_was_exiting(const ControlClient& client) {
  return client.closed() && client.last_error_line().starts_with("server exited");
}

/// Starts the session; returns tmux's output.
Result<std::string> create_session(TmuxSession& session, const std::vector<std::string>& words,
                                   ControlListener& listener, SteadyTime deadline) {
  while (true) {
    session.client = RELAY_TRY(start_client(session, words, listener));
    auto reply = session.client->wait({}, deadline);
    if (reply) return reply;
    if (!server_was_exiting(*session.client) || SystemClock{}.now().steady >= deadline)
      return no_session(session, reply.error().message());
  }
}

/// Parses "$3 %3 4711 /dev/pts/5", the format we requested.
Result<void> parse_pane_description(std::string_view place, TmuxSession& session) {
  session.id = take_word(place);
  const auto pane = parse_pane(take_word(place));
  const auto pid = take_word(place);
  std::from_chars(pid.data(), pid.data() + pid.size(), session.shim_pid);
  if (!session.id.starts_with('$') || !pane || session.shim_pid <= 0 || place.empty())
    return fail("tmux sent an invalid description of the new pane");
  session.pane = *pane;
  const std::string path{place};
  session.terminal = UniqueFd{::open(path.c_str(), O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)};
  if (!session.terminal) return fail_errno(format("cannot open the pane's terminal {}", path));
  return {};
}

/// Overrides session options of the user's configuration, and detects differences between servers.
Result<void> configure(TmuxSession& session, pty::WindowSize size, SteadyTime deadline) {
  const std::array lines = {
      format("set-option -w -t %{} window-size latest", session.pane),
      format("set-option -w -t %{} remain-on-exit off", session.pane),
      format("set-option -t %{} destroy-unattached off", session.pane),
      format("refresh-client -C {}x{}", size.columns, size.rows),
  };
  for (const auto& line : lines) RELAY_TRY(session.client->wait(line, deadline));
  session.needs_raw_paste_flag =
      needs_raw_paste_flag(RELAY_TRY(session.client->wait("list-commands paste-buffer", deadline)));
  return {};
}

Result<ShimConnection> wait_for_shim(const ShimListener& shim_listener, ControlClient& client, SteadyTime deadline) {
  while (true) {
    if (auto link = shim_listener.accept()) return std::move(*link);
    if (!client.read_turn()) return fail("the pane ended at once; check that the shim program can be executed");
    const auto left = std::chrono::ceil<Millis>(deadline - SystemClock{}.now().steady).count();
    if (left <= 0) return fail("the shim did not connect in time");
    std::array<pollfd, 2> wait{{{.fd = shim_listener.fd(), .events = POLLIN, .revents = 0},
                                {.fd = client.fd(), .events = POLLIN, .revents = 0}}};
    ::poll(wait.data(), wait.size(), static_cast<int>(left));
  }
}

}  // namespace

Result<TmuxSession> start_session(const pty::Command& command, pty::WindowSize size, const PaneOptions& options,
                                  ControlListener& listener, SteadyTime deadline) {
  RELAY_ASSERT(!options.shim_command.empty());
  TmuxSession session;
  session.name = session_name(options.name);
  session.tmux = RELAY_TRY(find_tmux(pty::inherited_environment(), deadline));
  session.words = {"tmux", "-u", "-C"};
  session.words.insert(session.words.end(), options.server.begin(), options.server.end());
  const auto shim_listener = RELAY_TRY(ShimListener::open(options.directory));
  std::vector<std::string> words{"new-session",
                                 "-s",
                                 session.name,
                                 "-x",
                                 format("{}", size.columns),
                                 "-y",
                                 format("{}", size.rows),
                                 "-f",
                                 kClientFlags,
                                 "-P",
                                 "-F",
                                 "#{session_id} #{pane_id} #{pane_pid} #{pane_tty}",
                                 "--"};
  words.insert(words.end(), options.shim_command.begin(), options.shim_command.end());
  words.push_back(shim_listener.path());
  const auto place = RELAY_TRY(create_session(session, words, listener, deadline));
  RELAY_TRY(parse_pane_description(place, session));
  RELAY_TRY(configure(session, size, deadline));
  session.shim = RELAY_TRY(wait_for_shim(shim_listener, *session.client, deadline));
  session.program = RELAY_TRY(session.shim.start(command, deadline));
  return session;
}

Result<std::unique_ptr<ControlClient>> query_pane(const TmuxSession& session, ControlListener& listener) {
  return start_client(session,
                      {"-N", "display-message", "-p", "-t", format("%{}", session.pane), "#{session_id} #{pane_pid}"},
                      listener);
}

Result<std::unique_ptr<ControlClient>> attach_client(const TmuxSession& session, const std::string& id,
                                                     ControlListener& listener) {
  return start_client(session, {"-N", "attach-session", "-f", kClientFlags + ",ignore-size", "-t", id}, listener);
}

}  // namespace relay::tmux
