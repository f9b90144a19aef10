/// The event feed and the WebSockets of one workspace, which end together.
///
/// Ownership: borrows loop, network and workspace, which outlive it. Threading: the API's loop thread.
#pragma once

#include "api/events/feed.h"
#include "api/events/ws_sockets.h"

namespace relay::api {

struct LiveStreams {
  LiveStreams(net::EventLoop& loop, net::Network& network, WorkspaceClient& workspace, FeedLimits feed_limits = {},
              SocketLimits socket_limits = {})
      : feed{loop, workspace, feed_limits}, sockets{network, workspace, feed, socket_limits} {}

  /// Ends every stream and socket, and sends the clients the number to resume from.
  void end(const std::string& reason) {
    sockets.close(reason);
    feed.close(reason);
  }

  Feed feed;
  LiveSockets sockets;  // destroyed first: they read the feed
};

}  // namespace relay::api
