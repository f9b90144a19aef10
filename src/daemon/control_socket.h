/// The daemon's control socket: opens, closes and lists workspaces, reports the daemon's state, reloads the
/// configuration and shuts down. Frames as on every socket of the relay, without a handshake.
///
/// WORKSPACE_CLOSE, SHUTDOWN and CONTROL are the user's: a process inside an agent, or one that cannot be identified,
/// is refused. Every request gets one response with its envelope id: STATUS_RESPONSE to STATUS,
/// CONTROL_RESULT to CONTROL, else WORKSPACE_RESPONSE. An idle connection is closed after kControlIdleTimeout, so
/// an incomplete frame does not stay.
/// Ownership: owns its listener and connections; borrows the handler, which outlives it. Threading: loop thread only.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/lifetime.h"
#include "daemon/frame_connection.h"
#include "net/event_loop.h"
#include "net/stream.h"
#include "protocol/envelope.h"
#include "protocol/peer_origin.h"
#include "protocol/requests.h"

namespace relay::daemon {

inline constexpr Millis kControlIdleTimeout{60'000};
inline constexpr std::size_t kMaxControlOutputBytes = 4 << 20;

/// Receives the outcome of a request; may be called later.
using OnDone = std::move_only_function<void(Result<void>)>;

class ControlHandler {
 public:
  virtual ~ControlHandler() = default;
  virtual void open_workspace(const protocol::WorkspaceRequest& request, OnDone done) = 0;
  virtual void close_workspace(const protocol::WorkspaceRequest& request, OnDone done) = 0;
  virtual void begin_shutdown() = 0;
  /// The payload of a WORKSPACE_RESPONSE: the outcome and the open workspaces.
  virtual std::string describe_workspaces(const Result<void>& outcome) = 0;
  /// The payload of a STATUS_RESPONSE: HTTP and the settings in force, for the workspace of `root` where that is open.
  virtual std::string describe_daemon(const std::string& root) = 0;
  /// Reloads config.toml; returns the payload of a CONTROL_RESULT with the changes.
  virtual std::string reload(const std::string& root) = 0;
};

class ControlSocket final : private ConnectionOwner {
 public:
  /// Classifies a peer when its connection is accepted.
  using OriginOf = std::function<protocol::PeerOrigin(const net::Peer& peer)>;

  ControlSocket(net::EventLoop& loop, ControlHandler& handler, OriginOf origin_of)
      : loop_{loop}, handler_{handler}, origin_of_{std::move(origin_of)} {}
  ~ControlSocket() override;

  Result<void> listen(net::Network& network, const std::string& path);
  /// Flushes pending output, then closes every connection.
  void close();

 private:
  struct Client {
    std::unique_ptr<FrameConnection> connection;
    std::unique_ptr<net::Timer> idle_timeout;
    protocol::PeerOrigin origin;
  };

  void on_frame(ConnectionId from, std::string_view body) override;
  void on_bad_stream(ConnectionId from, std::string_view reason) override;
  void on_written(ConnectionId, std::size_t) override {}
  void on_closed(ConnectionId id, const std::string& reason) override;

  void accept(std::unique_ptr<net::Stream> stream);
  void handle(ConnectionId from, const protocol::Envelope& envelope);
  /// An error when the sender may not perform the action.
  [[nodiscard]] Result<void> check_user(ConnectionId from, std::string_view action) const;
  std::string reload(ConnectionId from, const std::string& root);
  OnDone respond_later(ConnectionId to, std::string_view request_id);
  void respond(ConnectionId to, const std::string& request_id, const Result<void>& outcome);
  void respond_with(ConnectionId to, protocol::MessageType type, std::string_view request_id, std::string_view payload);
  void send_error(ConnectionId to, std::string_view message, net::Drain end);
  void send(ConnectionId to, std::string_view body);
  void restart_idle_timeout(ConnectionId id);
  void destroy_later(ConnectionId id);

  net::EventLoop& loop_;
  ControlHandler& handler_;
  OriginOf origin_of_;
  std::unordered_map<ConnectionId, Client> clients_;
  std::vector<std::unique_ptr<FrameConnection>> closing_;
  std::uint64_t last_id_ = 0;
  std::unique_ptr<net::Listener> listener_;
  Lifetime lifetime_;
};

}  // namespace relay::daemon
