#include "cli/wire/daemon_control.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/format.h"
#include "base/json.h"
#include "base/unique_fd.h"
#include "protocol/send.h"

namespace relay::cli {
namespace {

constexpr std::chrono::milliseconds kOpenTimeout{30'000};   // recovery of a large database is slow
constexpr std::chrono::milliseconds kCloseTimeout{15'000};  // pending commits finish first
constexpr std::chrono::milliseconds kShutdownTimeout{15'000};

Result<json::object> request_object(DaemonConnection& daemon, protocol::MessageType type, const json::object& payload,
                                    std::chrono::milliseconds timeout) {
  const auto answer = RELAY_TRY(daemon.request(type, json::serialize(payload), timeout));
  auto object = RELAY_TRY(parse_json_object(answer));
  if (const auto error = string_member(object, "error"))
    return string_member(object, "code") == name_of(protocol::NackCode::Refused) ? fail(Errc::Refused, *error)
                                                                                 : fail(*error);
  return object;
}

std::vector<WorkspaceInfo> parse_workspaces(const json::object& answer) {
  std::vector<WorkspaceInfo> open;
  const auto text = [](const json::object& entry, std::string_view name) {
    return string_member(entry, name).value_or("");
  };
  if (const auto* array = array_member(answer, "workspaces"))
    for (const auto& value : *array)
      if (const auto* entry = value.if_object())
        open.push_back({text(*entry, "root"), text(*entry, "projectId"), text(*entry, "socket"),
                        text(*entry, "warning"), integer_member(*entry, "connected").value_or(0)});
  return open;
}

}  // namespace

Result<std::vector<WorkspaceInfo>> open_workspace(DaemonConnection& daemon, const std::string& root,
                                                  const std::string& socket) {
  json::object request = {{"root", root}};
  if (!socket.empty()) request["socket"] = socket;
  return parse_workspaces(
      RELAY_TRY(request_object(daemon, protocol::MessageType::WorkspaceOpen, request, kOpenTimeout)));
}

Result<void> close_workspace(DaemonConnection& daemon, const std::string& root) {
  RELAY_TRY(
      request_object(daemon, protocol::MessageType::WorkspaceClose, json::object({{"root", root}}), kCloseTimeout));
  return {};
}

Result<std::vector<WorkspaceInfo>> list_workspaces(DaemonConnection& daemon) {
  return parse_workspaces(
      RELAY_TRY(request_object(daemon, protocol::MessageType::WorkspaceList, json::object(), kResponseTimeout)));
}

Result<DaemonState> query_daemon_state(DaemonConnection& daemon, const std::string& root) {
  const auto answer = RELAY_TRY(
      request_object(daemon, protocol::MessageType::Status, json::object({{"root", root}}), kResponseTimeout));
  DaemonState state;
  if (const auto* http = object_member(answer, "http")) {
    state.http_url = string_member(*http, "url").value_or("");
    state.http_error = string_member(*http, "error").value_or("");
  }
  state.capture_home = string_member(answer, "captureHome").value_or("");
  if (const auto* settings = object_member(answer, "settings"))
    for (const auto& [name, value] : *settings)
      if (const auto* text = value.if_string()) state.settings.emplace(name, *text);
  if (const auto* names = array_member(answer, "overridden"))
    for (const auto& name : *names)
      if (const auto* text = name.if_string()) state.overridden.emplace(*text);
  return state;
}

Result<std::vector<ReloadedSetting>> reload_daemon(DaemonConnection& daemon, const std::string& root) {
  const auto answer = RELAY_TRY(request_object(daemon, protocol::MessageType::Control,
                                               json::object({{"action", "reload"}, {"root", root}}), kResponseTimeout));
  std::vector<ReloadedSetting> changes;
  const auto text = [](const json::object& entry, std::string_view name) {
    return string_member(entry, name).value_or("");
  };
  if (const auto* changed = array_member(answer, "changed"))
    for (const auto& value : *changed)
      if (const auto* entry = value.if_object())
        changes.push_back({text(*entry, "setting"), text(*entry, "from"), text(*entry, "to"), text(*entry, "applies")});
  return changes;
}

Result<pid_t> peer_of(const DaemonConnection& connection) {
  ucred credentials{};
  socklen_t length = sizeof(credentials);
  if (::getsockopt(connection.fd(), SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0)
    return fail_errno("cannot read the credentials of the daemon");
  return credentials.pid;
}

Result<void> shut_down_daemon(DaemonConnection& daemon) {
  const auto pid = RELAY_TRY(peer_of(daemon));
  const UniqueFd process{
      static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};  // glibc 2.36 declares no wrapper for C++
  // A daemon that exits before its response is read has accepted the request.
  if (auto taken = request_object(daemon, protocol::MessageType::Shutdown, json::object(), kResponseTimeout);
      !taken && is(taken.error(), Errc::Refused))
    return Failure{std::move(taken).error()};
  if (!process) return {};  // already exited
  const auto deadline = in(kShutdownTimeout);
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    pollfd watched{process.get(), POLLIN, 0};
    const int ready = left <= 0 ? 0 : ::poll(&watched, 1, static_cast<int>(left));
    if (ready > 0) return {};
    if (ready == 0)
      return fail(Errc::TimedOut,
                  relay::format("the daemon (pid {}) has not stopped after {} s; see its log, or stop it with: kill {}",
                                pid, kShutdownTimeout.count() / 1000, pid));
    if (errno != EINTR) return fail_errno("cannot wait for the daemon to stop");
  }
}

}  // namespace relay::cli
