#include "cli/wire/host_connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

#include "base/format.h"
#include "base/nearest.h"
#include "cli/wire/json_fields.h"
#include "cli/wire/workspace.h"
#include "net/unix_address.h"

namespace relay::cli {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;
constexpr std::size_t kMaxListed = 8;

/// `Alice, Bob`; at most kMaxListed names.
std::string join_names(const std::vector<std::string_view>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMaxListed); ++i)
    text += (text.empty() ? "" : ", ") + std::string{names[i]};
  return names.size() > kMaxListed ? relay::format("{} and {} more", text, names.size() - kMaxListed) : text;
}

/// The error for an agent that the daemon lists and that has no host; empty when it is not listed, or the daemon does not
/// respond.
std::string error_from_daemon(const Context& context, const std::string& agent, const HostUse& use) {
  const auto deadline = std::min(use.deadline, in(kDescribeTimeout));
  const auto left = [&] {
    return std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  };
  auto connection = join_workspace(context, left());
  if (!connection) return {};
  const json::object query{{"agent", agent}, {"includeIdle", true}};
  const auto payload = connection->request(protocol::MessageType::ListAgents, json::serialize(query), left());
  const auto answer = payload ? parse_json_object(*payload) : Result<json::object>{fail("no response")};
  const auto rows = answer ? objects_in(*answer, "agents") : std::vector<const json::object*>{};
  if (rows.empty()) return {};
  const auto& row = *rows.front();
  const auto name = sanitize(agent, Lines::Join);
  if (bool_member(row, "observed").value_or(false))
    return relay::format("{} is only observed: it was started without agent-relay, so it cannot be {}", name, use.done);
  if (bool_member(row, "idle").value_or(false))
    return relay::format(
        "{} is offline: no program runs under that name in {}; start one with: agent-relay -n {} claude", name,
        context.project.root, name);
  return relay::format("{} is connected without a host (a chat or another program), so it cannot be {}; {}", name,
                       use.done, use.instead);
}

}  // namespace

Result<host::HostRecord> find_host(const Context& context, const std::string& agent, const HostUse& use) {
  if (auto found = host::find_host(context.project.hosts, agent)) return *std::move(found);
  if (auto error = error_from_daemon(context, agent, use); !error.empty())
    return fail(Errc::NoSuchAgent, std::move(error));
  const auto hosts = host::reachable_hosts(context.project.hosts);
  std::vector<std::string_view> names;
  for (const auto& host : hosts) names.push_back(host.name);
  const auto nearest = nearest_names(agent, names, 1);
  const auto hint = !nearest.empty() ? relay::format("did you mean {}?", nearest.front())
                    : names.empty()
                        ? relay::format("no agent runs here; start one with: agent-relay -n {} claude", agent)
                        : relay::format("these do: {}", join_names(names));
  return fail(Errc::NoSuchAgent,
              relay::format("no agent {} runs under agent-relay in {}; {}", agent, context.project.root, hint));
}

Result<HostConnection> HostConnection::open(const host::HostRecord& record) {
  auto connected = net::connect_now(record.socket);
  if (!connected && is(connected.error(), net::Errc::ForeignListener))
    return fail(Errc::Refused, connected.error().message());
  if (!connected) return fail(Errc::HostGone, relay::format("{} has just exited", record.name));
  auto fd = *std::move(connected);
  if (!fd) return fail(Errc::Refused, relay::format("the host of {} is busy; try again", record.name));
  return HostConnection{std::move(fd), record.name};
}

Result<void> HostConnection::read_some(Deadline deadline) {
  if (!RELAY_TRY(wait_for(fd_.get(), POLLIN, deadline, output_)))
    return fail(Errc::TimedOut, relay::format("the host of {} did not respond in time", agent_));
  std::array<char, kReadBytes> buffer;
  const auto count = ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
  if (count > 0)
    reader_.push({buffer.data(), static_cast<std::size_t>(count)});
  else if (count == 0 || (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK))
    return fail(Errc::HostGone, relay::format("{} has exited, or its host was killed", agent_));
  return {};
}

Result<json::object> HostConnection::next(Deadline deadline) {
  for (;;) {
    const auto frame = RELAY_TRY(reader_.next());
    if (frame && frame->starts_with('{')) return RELAY_TRY(parse_json_object(*frame));
    if (!frame) RELAY_TRY(read_some(deadline));
  }
}

Result<json::object> HostConnection::request_text(std::string_view request, std::chrono::milliseconds timeout) {
  const auto deadline = in(timeout);
  std::string bytes;
  protocol::append_frame(bytes, reader_.style(), request);
  for (std::size_t sent = 0; sent < bytes.size();) {
    const auto count = ::send(fd_.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count > 0)
      sent += static_cast<std::size_t>(count);
    else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!RELAY_TRY(wait_for(fd_.get(), POLLOUT, deadline, output_)))
        return fail(Errc::TimedOut, relay::format("the host of {} does not read its socket", agent_));
    } else if (errno != EINTR) {
      return fail(Errc::HostGone, relay::format("{} has exited, or its host was killed", agent_));
    }
  }
  for (;;) {
    auto answer = RELAY_TRY(next(deadline));
    if (!answer.contains("ok")) continue;  // an event
    if (bool_member(answer, "ok").value_or(false)) return answer;
    return fail(Errc::Refused, string_member(answer, "error").value_or("the host refused and gave no reason"));
  }
}

}  // namespace relay::cli
