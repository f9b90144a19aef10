/// The WebSockets of a workspace (`/ws`) for dashboards: a snapshot, then events, and terminals on request.
///
///   ──▶ {"type":"snapshot","workspace":{"id","root"},"agents":[…],"permissions":[…],"questions":[…],"newest":N}
///   ──▶ {"type":"event","event":{…}}   matching events after N; also gap, reset and resume (event_text.h)
///   ──▶ {"type":"screen","agent","columns","rows","ansi"}, {"type":"output","agent","data"},
///   {"type":"screen-closed",…} ◀── requests of ws_request.h; an invalid one gets {"type":"error","message"}
///
/// Why no event is missing between snapshot and events: the newest number is queried first, the rest after it. So an
///   event may repeat a part of the snapshot, but none is omitted.
/// Ownership: borrows loop, network, workspace and feed, which outlive it; owns the sockets.
/// Threading: loop thread only.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "api/client/workspace_client.h"
#include "api/events/feed.h"
#include "api/http/call.h"
#include "net/http_response.h"
#include "net/stream.h"

namespace relay::api {

struct SocketLimits {
  std::size_t sockets = 100;                      // more get 503
  std::size_t screens = 16;                       // per socket
  std::size_t waiting_bytes = 256U * 1024U;       // backlog of one socket at which its screens are paused
  std::size_t unread_bytes = 4U * 1024U * 1024U;  // backlog at which a client that keeps sending requests is closed
};

class LiveSocket;

class LiveSockets {
 public:
  LiveSockets(net::Network& network, WorkspaceClient& workspace, Feed& feed, SocketLimits limits = {});
  ~LiveSockets();
  LiveSockets(const LiveSockets&) = delete;
  LiveSockets& operator=(const LiveSockets&) = delete;

  /// Accepts the WebSocket; a request without an upgrade gets 426.
  void open(Call call);
  [[nodiscard]] std::size_t count() const { return sockets_.size(); }
  /// Closes all sockets with that reason.
  void close(const std::string& reason);

 private:
  friend class LiveSocket;
  void remove(const LiveSocket& socket);

  net::Network& network_;
  WorkspaceClient& workspace_;
  Feed& feed_;
  const SocketLimits limits_;
  std::map<const LiveSocket*, std::unique_ptr<LiveSocket>> sockets_;
};

}  // namespace relay::api
