/// What goes on in one workspace, live: its feed of events and its sockets, which end together.
///
/// Ownership: borrows loop, network and relay, which outlive it. Threading: the API's loop thread.
#pragma once

#include "api/events/feed.h"
#include "api/events/ws_sockets.h"

namespace relay::api {

struct LiveStreams {
  LiveStreams(net::EventLoop& loop, net::Network& network, WorkspaceClient& workspace, FeedLimits reading = {},
              SocketLimits talking = {})
      : feed{loop, workspace, reading}, sockets{network, workspace, feed, talking} {}

  /// Everybody hears where to go on, and is let go.
  void end(const std::string& reason) {
    sockets.close(reason);
    feed.close(reason);
  }

  Feed feed;
  LiveSockets sockets;  // they read the feed
};

}  // namespace relay::api
