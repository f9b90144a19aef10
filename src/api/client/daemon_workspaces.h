/// The open workspaces of this daemon, listed over its control socket. Each gets a client when it is first needed.
///
/// Invariants: a client exists while its workspace is open and is dropped when a listing no longer contains it. The
///   listing is requested again when it is older than kListMaxAge or lacks the requested workspace. Requests that
///   arrive while a listing is in progress share it.
/// Ownership: borrows loop, network and random, which outlive it. Threading: the API's loop thread.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/client/socket_workspace_client.h"
#include "api/client/workspace_directory.h"
#include "api/events/live.h"
#include "client/daemon_call.h"

namespace relay::api {

inline constexpr Millis kListMaxAge{250};

class DaemonWorkspaces final : public WorkspaceDirectory {
 public:
  /// The directory of host records of the project at that root.
  using HostsOf = std::function<std::string(const std::string& root)>;

  DaemonWorkspaces(net::EventLoop& loop, net::Network& network, Random& random, std::string control_socket,
                   HostsOf hosts_of);
  ~DaemonWorkspaces() override;

  void find(std::string_view which, OnFound on_found) override;
  void list(OnListed listed) override;
  void open(const std::string& root, OnChanged on_done) override;
  void close(const std::string& id, OnChanged on_done) override;
  void switch_to(const std::string& id, OnChanged on_done) override;
  /// Ends all streams and sockets, and sends their clients the number to resume from.
  void end_streams(const std::string& reason);
  [[nodiscard]] const std::string& switched_to() const override { return switched_to_; }

 private:
  struct Entry {
    WorkspaceInfo info;
    std::string socket;
  };
  struct ConnectedWorkspace {
    std::unique_ptr<SocketWorkspaceClient> client;
    std::unique_ptr<LiveStreams> live;  // destroyed before the client
  };
  using OnDone = std::move_only_function<void(ApiResult<void>)>;

  void refresh(OnDone on_done);
  void command(protocol::MessageType type, json::object payload, Millis timeout, OnDone on_done);
  ApiResult<void> apply_listing(const Result<client::DaemonResponse>& response);
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
  std::vector<OnDone> refresh_waiters_;  // of the listing in progress
  std::unordered_map<std::uint64_t, std::unique_ptr<client::DaemonCall>> calls_;
  std::uint64_t last_call_ = 0;
};

}  // namespace relay::api
