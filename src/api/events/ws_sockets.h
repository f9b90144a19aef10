/// The live socket of a workspace (`/ws`): a snapshot, then every event, and terminals to look at; for dashboards.
///
///   ──▶ {"type":"snapshot","workspace":{"id","root"},"agents":[…],"permissions":[…],"questions":[…],"newest":N}
///   ──▶ {"type":"event","event":{…}}   all behind N that fit; also gap, reset and resume (event_text.h)
///   ──▶ {"type":"screen","agent","columns","rows","ansi"}, {"type":"output","agent","data"}, {"type":"screen-gone",…}
///   ◀── what ws_request.h reads; what it cannot is answered with {"type":"error","message"}
///
/// Why nothing is missing between snapshot and events: the number is taken first, the rest is asked after it. So an event
///   may tell what the snapshot shows already, never the other way round.
/// Ownership: borrows loop, network, relay and feed, which outlive it; owns the sockets.
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
  std::size_t sockets = 100;                      // one more is told 503
  std::size_t screens = 16;                       // of one socket
  std::size_t waiting_bytes = 256U * 1024U;       // of one socket, until its screens are paused
  std::size_t unread_bytes = 4U * 1024U * 1024U;  // a client that asks and does not read is cut here
};

class LiveSocket;

class LiveSockets {
 public:
  LiveSockets(net::Network& network, WorkspaceClient& workspace, Feed& feed, SocketLimits limits = {});
  ~LiveSockets();
  LiveSockets(const LiveSockets&) = delete;
  LiveSockets& operator=(const LiveSockets&) = delete;

  /// Accepts the WebSocket that was asked for; a request that asks for none is told so.
  void open(Call call);
  [[nodiscard]] std::size_t count() const { return sockets_.size(); }
  /// Ends them all with that reason.
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
