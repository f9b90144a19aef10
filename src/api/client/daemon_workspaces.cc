#include "api/client/daemon_workspaces.h"

#include <algorithm>
#include <filesystem>

#include "base/format.h"

namespace relay::api {
namespace {

using protocol::MessageType;

constexpr Millis kListTimeout{5'000};
constexpr Millis kOpenTimeout{30'000};   // recovery of a large database takes long
constexpr Millis kCloseTimeout{15'000};  // writes in progress are committed first
constexpr std::size_t kMaxCalls = 64;
constexpr std::size_t kIdBytes = 8;

std::vector<std::string> path_spellings(const std::string& root) {
  namespace fs = std::filesystem;
  const auto without_slash = [](std::string path) {
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    return path;
  };
  std::error_code unreadable;
  return {root, without_slash(fs::path{root}.lexically_normal().string()),
          without_slash(fs::weakly_canonical(root, unreadable).string())};
}

std::string text(const json::object& entry, std::string_view name) { return string_member(entry, name).value_or(""); }

}  // namespace

DaemonWorkspaces::DaemonWorkspaces(net::EventLoop& loop, net::Network& network, Random& random,
                                   std::string control_socket, HostsOf hosts_of)
    : loop_{loop},
      network_{network},
      random_{random},
      control_socket_{std::move(control_socket)},
      hosts_of_{std::move(hosts_of)} {}

DaemonWorkspaces::~DaemonWorkspaces() {
  const auto connections =
      std::exchange(connections_, {});  // first: pending requests fail, and their callbacks may send new ones
}

std::vector<WorkspaceInfo> DaemonWorkspaces::workspaces() const {
  std::vector<WorkspaceInfo> all;
  for (const auto& [root, entry] : open_) all.push_back(entry.info);
  return all;
}

bool DaemonWorkspaces::is_fresh() const { return listed_ && loop_.now().steady - listed_at_ < kListMaxAge; }

void DaemonWorkspaces::command(MessageType type, json::object payload, Millis timeout, OnDone on_done) {
  if (calls_.size() >= kMaxCalls)
    return loop_.post([on_done = std::move(on_done)]() mutable {
      on_done(std::unexpected{api_error_by_code("BUSY", "too many workspaces are being opened or closed; try again")});
    });
  const auto number = ++last_call_;
  auto call = std::make_unique<client::DaemonCall>(
      loop_, network_, control_socket_,
      client::DaemonRequest{
          .type = type, .id = random_.hex(kIdBytes), .payload = json::serialize(payload), .timeout = timeout},
      [this, number, on_done = std::move(on_done)](Result<client::DaemonResponse> response) mutable {
        const auto finished = calls_.extract(number);  // destroyed after its callback
        on_done(apply_listing(response));
      });
  auto& running = *call;
  calls_.emplace(number, std::move(call));
  running.start();
}

/// Every response of the control socket lists the open workspaces.
ApiResult<void> DaemonWorkspaces::apply_listing(const Result<client::DaemonResponse>& response) {
  if (!response) return std::unexpected{to_api_error(response.error())};
  const auto listing = parse_json_object(response->payload);
  if (!listing) return std::unexpected{to_api_error(listing.error())};
  open_.clear();
  if (const auto* all = array_member(*listing, "workspaces"))
    for (const auto& value : *all) {
      const auto* entry = value.if_object();
      if (entry == nullptr) continue;
      open_[text(*entry, "root")] = {.info = {.id = text(*entry, "projectId"),
                                              .root = text(*entry, "root"),
                                              .connected = integer_member(*entry, "connected").value_or(0),
                                              .known = integer_member(*entry, "known").value_or(0),
                                              .storage = text(*entry, "storage"),
                                              .warning = text(*entry, "warning")},
                                     .socket = text(*entry, "socket")};
    }
  listed_ = true;
  listed_at_ = loop_.now().steady;
  std::erase_if(connections_,
                [&](const auto& connection) { return !open_.contains(connection.second.client->root()); });
  if (const auto error = string_member(*listing, "error"))
    return std::unexpected{api_error_by_code(text(*listing, "code"), *error)};
  return {};
}

void DaemonWorkspaces::refresh(OnDone on_done) {
  refresh_waiters_.push_back(std::move(on_done));
  if (refresh_waiters_.size() > 1) return;
  command(MessageType::WorkspaceList, {}, kListTimeout, [this](const ApiResult<void>& result) {
    for (auto all = std::exchange(refresh_waiters_, {}); auto& each : all) each(result);
  });
}

bool DaemonWorkspaces::is_disconnected(const std::string& id) const {
  const auto connection = connections_.find(id);
  return connection != connections_.end() && connection->second.client->is_disconnected();
}

WorkspaceHandle DaemonWorkspaces::connect(const std::string& id) {
  auto& [client, live] = connections_[id];
  const auto entry = std::ranges::find_if(open_, [&](const auto& each) { return each.second.info.id == id; });
  RELAY_ASSERT(entry != open_.end());
  if (!client || client->socket() != entry->second.socket) {
    live.reset();
    client = std::make_unique<SocketWorkspaceClient>(
        loop_, network_, random_,
        WorkspaceLocation{
            .id = id, .root = entry->first, .socket = entry->second.socket, .hosts = hosts_of_(entry->first)});
    live = std::make_unique<LiveStreams>(loop_, network_, *client);
  }
  return {*client, *client, live.get()};
}

void DaemonWorkspaces::end_streams(const std::string& reason) {
  for (const auto& [id, connection] : connections_)
    if (connection.live) connection.live->end(reason);
}

void DaemonWorkspaces::find(std::string_view which, OnFound on_found) {
  if (is_fresh())
    if (const auto workspace = choose_workspace(workspaces(), which, switched_to_);
        workspace && !is_disconnected(workspace->id))
      return loop_.post(
          [this, id = workspace->id, which = std::string{which}, on_found = std::move(on_found)]() mutable {
            if (const auto still = choose_workspace(workspaces(), id, {})) return on_found(connect(id));
            on_found(std::unexpected{not_found("the workspace was closed")});
          });
  refresh([this, which = std::string{which}, on_found = std::move(on_found)](ApiResult<void> result) mutable {
    if (!result) return on_found(std::unexpected{result.error()});
    const auto workspace = choose_workspace(workspaces(), which, switched_to_);
    if (!workspace) return on_found(std::unexpected{workspace.error()});
    on_found(connect(workspace->id));
  });
}

void DaemonWorkspaces::list(OnListed on_listed) {
  refresh([this, on_listed = std::move(on_listed)](ApiResult<void> result) mutable {
    if (!result) return on_listed(std::unexpected{result.error()});
    on_listed(workspaces());
  });
}

void DaemonWorkspaces::open(const std::string& root, OnChanged on_done) {
  command(
      MessageType::WorkspaceOpen, {{"root", root}}, kOpenTimeout,
      [this, root, on_done = std::move(on_done)](ApiResult<void> result) mutable {
        if (!result) return on_done(std::unexpected{result.error()});
        // The path may be spelled differently: a trailing slash, or a symbolic link.
        for (const auto& path : path_spellings(root))
          if (const auto named = choose_workspace(workspaces(), path, {})) return on_done(*named);
        on_done(std::unexpected{conflict("FAILED", "the workspace is open under another path; see GET /workspaces")});
      });
}

void DaemonWorkspaces::close(const std::string& id, OnChanged on_done) {
  refresh([this, id, on_done = std::move(on_done)](ApiResult<void> result) mutable {
    if (!result) return on_done(std::unexpected{result.error()});
    auto workspace = choose_workspace(workspaces(), id, {});
    if (!workspace) return on_done(std::unexpected{workspace.error()});
    command(MessageType::WorkspaceClose, {{"root", workspace->root}}, kCloseTimeout,
            [workspace = *workspace, on_done = std::move(on_done)](ApiResult<void> closed) mutable {
              if (!closed) return on_done(std::unexpected{closed.error()});
              on_done(workspace);
            });
  });
}

void DaemonWorkspaces::switch_to(const std::string& id, OnChanged on_done) {
  refresh([this, id, on_done = std::move(on_done)](ApiResult<void> result) mutable {
    if (!result) return on_done(std::unexpected{result.error()});
    auto workspace = choose_workspace(workspaces(), id, {});
    if (!workspace) return on_done(std::unexpected{workspace.error()});
    switched_to_ = workspace->id;
    on_done(*std::move(workspace));
  });
}

}  // namespace relay::api
