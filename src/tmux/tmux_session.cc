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

/// Without pauses tmux throws out a client that is five minutes behind; with them it says how old output is, and pauses
/// (which would lose some) only after this many seconds: 46 days, nearly the most its arithmetic takes.
const std::string kClientFlags = "pause-after=4000000";

/// Ours, without what is meant for one agent: a server that we start gives it to all who come later.
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
    return fail(Errc::SessionExists,
                format("there is a tmux session {} already, perhaps with an agent in it; look at it with: tmux attach "
                       "-t ={}, or end it with: tmux kill-session -t ={}",
                       session.name, session.name, session.name));
  return fail(format("tmux did not make the session {}: {}", session.name, reason));
}

/// A server whose last session has just ended may let us in and then go; nothing was made, so we come again.
bool server_was_leaving(const ControlClient& client) {
  return client.closed() && client.last_error_line().starts_with("server exited");
}

/// Starts the session; what tmux says about it.
Result<std::string> make(TmuxSession& session, const std::vector<std::string>& words, ControlListener& listener,
                         SteadyTime deadline) {
  while (true) {
    session.client = RELAY_TRY(start_client(session, words, listener));
    auto said = session.client->wait({}, deadline);
    if (said) return said;
    if (!server_was_leaving(*session.client) || SystemClock{}.now().steady >= deadline)
      return no_session(session, said.error().message());
  }
}

/// "$3 %3 4711 /dev/pts/5", as asked for.
Result<void> take_place(std::string_view place, TmuxSession& session) {
  session.id = take_word(place);
  const auto pane = parse_pane(take_word(place));
  const auto pid = take_word(place);
  std::from_chars(pid.data(), pid.data() + pid.size(), session.keeper_pid);
  if (!session.id.starts_with('$') || !pane || session.keeper_pid <= 0 || place.empty())
    return fail("tmux's words about the new pane make no sense");
  session.pane = *pane;
  const std::string path{place};
  session.terminal = UniqueFd{::open(path.c_str(), O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)};
  if (!session.terminal) return fail_errno(format("cannot open the pane's terminal {}", path));
  return {};
}

/// What the person's configuration may say otherwise for sessions in general, and what differs between servers.
Result<void> settle(TmuxSession& session, pty::WindowSize size, SteadyTime deadline) {
  const std::array lines = {
      format("set-option -w -t %{} window-size latest", session.pane),
      format("set-option -w -t %{} remain-on-exit off", session.pane),
      format("set-option -t %{} destroy-unattached off", session.pane),
      format("refresh-client -C {}x{}", size.columns, size.rows),
  };
  for (const auto& line : lines) RELAY_TRY(session.client->wait(line, deadline));
  session.pastes_by_request =
      pastes_by_request(RELAY_TRY(session.client->wait("list-commands paste-buffer", deadline)));
  return {};
}

Result<ShimConnection> wait_for_keeper(const ShimListener& door, ControlClient& client, SteadyTime deadline) {
  while (true) {
    if (auto link = door.accept()) return std::move(*link);
    if (!client.read_turn()) return fail("the pane ended at once; can the program that keeps it be executed?");
    const auto left = std::chrono::ceil<Millis>(deadline - SystemClock{}.now().steady).count();
    if (left <= 0) return fail("nothing happened in the new pane");
    std::array<pollfd, 2> wait{
        {{.fd = door.fd(), .events = POLLIN, .revents = 0}, {.fd = client.fd(), .events = POLLIN, .revents = 0}}};
    ::poll(wait.data(), wait.size(), static_cast<int>(left));
  }
}

}  // namespace

Result<TmuxSession> start_session(const pty::Command& command, pty::WindowSize size, const PaneOptions& options,
                                  ControlListener& listener, SteadyTime deadline) {
  RELAY_ASSERT(!options.keeper.empty());
  TmuxSession session;
  session.name = session_name(options.name);
  session.tmux = RELAY_TRY(find_tmux(pty::inherited_environment(), deadline));
  session.words = {"tmux", "-u", "-C"};
  session.words.insert(session.words.end(), options.server.begin(), options.server.end());
  const auto door = RELAY_TRY(ShimListener::open(options.directory));
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
  words.insert(words.end(), options.keeper.begin(), options.keeper.end());
  words.push_back(door.path());
  const auto place = RELAY_TRY(make(session, words, listener, deadline));
  RELAY_TRY(take_place(place, session));
  RELAY_TRY(settle(session, size, deadline));
  session.keeper = RELAY_TRY(wait_for_keeper(door, *session.client, deadline));
  session.program = RELAY_TRY(session.keeper.start(command, deadline));
  return session;
}

Result<std::unique_ptr<ControlClient>> ask_for_place(const TmuxSession& session, ControlListener& listener) {
  return start_client(session,
                      {"-N", "display-message", "-p", "-t", format("%{}", session.pane), "#{session_id} #{pane_pid}"},
                      listener);
}

Result<std::unique_ptr<ControlClient>> attach_again(const TmuxSession& session, const std::string& id,
                                                    ControlListener& listener) {
  return start_client(session, {"-N", "attach-session", "-f", kClientFlags + ",ignore-size", "-t", id}, listener);
}

}  // namespace relay::tmux
