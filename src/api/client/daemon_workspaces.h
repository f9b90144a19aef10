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

inline constexpr Millis kListFresh{250};

class DaemonWorkspaces final : public WorkspaceDirectory {
 public:
  /// Where the hosts of the project at that root have their records.
  using HostsOf = std::function<std::string(const std::string& root)>;

  DaemonWorkspaces(net::EventLoop& loop, net::Network& network, Random& random, std::string control_socket,
                   HostsOf hosts_of);
  ~DaemonWorkspaces() override;

  void find(std::string_view which, Found found) override;
  void list(Listed listed) override;
  void open(const std::string& root, Changed opened) override;
  void close(const std::string& id, Changed closed) override;
  void switch_to(const std::string& id, Changed switched) override;
  /// Streams and sockets are told where to go on, and end.
  void end_streams(const std::string& reason);
  [[nodiscard]] const std::string& switched_to() const override { return switched_to_; }

 private:
  struct Entry {
    WorkspaceInfo told;
    std::string socket;
  };
  struct ConnectedWorkspace {
    std::unique_ptr<SocketWorkspaceClient> link;
    std::unique_ptr<LiveStreams> live;  // ends first
  };
  using Told = std::move_only_function<void(ApiResult<void>)>;

  void refresh(Told told);
  void command(protocol::MessageType type, json::object payload, Millis patience, Told told);
  ApiResult<void> take(const Result<DaemonResponse>& answer);
  [[nodiscard]] std::vector<WorkspaceInfo> listed() const;
  [[nodiscard]] bool fresh() const;
  [[nodiscard]] bool is_disconnected(const std::string& id) const;
  WorkspaceHandle reach(const std::string& id);

  net::EventLoop& loop_;
  net::Network& network_;
  Random& random_;
  std::string control_socket_;
  HostsOf hosts_of_;
  std::map<std::string, Entry> open_;                // by root
  std::map<std::string, ConnectedWorkspace> links_;  // by id
  std::string switched_to_;
  SteadyTime listed_at_{};
  bool known_ = false;
  std::vector<Told> waiting_;  // for the listing that is under way
  std::unordered_map<std::uint64_t, std::unique_ptr<DaemonCall>> calls_;
  std::uint64_t last_call_ = 0;
};

}  // namespace relay::api
