/// The workspaces of this daemon, as its control socket tells them, each with a link that is made when it is first needed.
///
/// Invariants: a link is kept while its workspace is open, and dropped when a listing shows that it is not. The listing is
///   asked for again when it is older than kListFresh, or does not have what is looked for; questions that come while it
///   is under way share it.
/// Ownership: borrows loop, network and random, which outlive it. Threading: the API's loop thread.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/client/daemon_call.h"
#include "api/client/socket_workspace_client.h"
#include "api/client/workspace_directory.h"
#include "api/events/live.h"

namespace relay::api {

inline constexpr Millis kListMaxAge{250};

class DaemonWorkspaces final : public WorkspaceDirectory {
 public:
  /// Where the hosts of the project at that root have their records.
  using HostsOf = std::function<std::string(const std::string& root)>;

  DaemonWorkspaces(net::EventLoop& loop, net::Network& network, Random& random, std::string control_socket,
                   HostsOf hosts_of);
  ~DaemonWorkspaces() override;

  void find(std::string_view which, OnFound on_found) override;
  void list(OnListed listed) override;
  void open(const std::string& root, OnChanged on_done) override;
  void close(const std::string& id, OnChanged on_done) override;
  void switch_to(const std::string& id, OnChanged on_done) override;
  /// Streams and sockets are told where to go on, and end.
  void end_streams(const std::string& reason);
  [[nodiscard]] const std::string& switched_to() const override { return switched_to_; }

 private:
  struct Entry {
    WorkspaceInfo info;
    std::string socket;
  };
  struct ConnectedWorkspace {
    std::unique_ptr<SocketWorkspaceClient> client;
    std::unique_ptr<LiveStreams> live;  // ends first
  };
  using OnDone = std::move_only_function<void(ApiResult<void>)>;

  void refresh(OnDone on_done);
  void command(protocol::MessageType type, json::object payload, Millis timeout, OnDone on_done);
  ApiResult<void> apply_listing(const Result<DaemonResponse>& response);
  [[nodiscard]] std::vector<WorkspaceInfo> workspaces() const;
  [[nodiscard]] bool is_fresh() const;
  [[nodiscard]] bool is_disconnected(const std::string& id) const;
  WorkspaceHandle connect(const std::string& id);

  net::EventLoop& loop_;
  net::Network& network_;
  Random& random_;
  std::string control_socket_;
  HostsOf hosts_of_;
  std::map<std::string, Entry> open_;                      // by root
  std::map<std::string, ConnectedWorkspace> connections_;  // by id
  std::string switched_to_;
  SteadyTime listed_at_{};
  bool listed_ = false;
  std::vector<OnDone> refresh_waiters_;  // for the listing that is under way
  std::unordered_map<std::uint64_t, std::unique_ptr<DaemonCall>> calls_;
  std::uint64_t last_call_ = 0;
};

}  // namespace relay::api
