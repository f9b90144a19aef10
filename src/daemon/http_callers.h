/// Classifies the process at the other end of an HTTP connection: the user's own program, or a process inside an agent.
///
/// Why: TCP carries no credentials, and all programs of a user have the same uid. The kernel names the socket at the
///   other end, /proc the process that has it open, and its parents classify it (host/control/peer_classifier.h),
///   as for Unix sockets. docs/security.md states what this stops and what it does not.
/// Invariants: a caller is inside an agent only when that is certain. One that cannot be found is `Unknown`, which the
///   API treats as the user (api/http/security.h). One that has closed its socket has no origin at all, so a process
///   that writes a request and ends does not count as the user.
/// Bounded: a new connection costs at most kMaxDescriptors reads in /proc, a cached one a single netlink query; the
///   last kMaxCached connections are cached.
/// Threading: the API's loop thread.
#pragma once

#include <deque>
#include <optional>

#include "config/paths.h"
#include "host/control/peer_classifier.h"
#include "net/server_request.h"

namespace relay::daemon {

class HttpCallers {
 public:
  static constexpr std::size_t kMaxDescriptors = 50'000;  // about 50 ms
  static constexpr std::size_t kMaxCached = 256;

  explicit HttpCallers(const config::Home& home);

  /// None: the caller has closed its end.
  std::optional<protocol::PeerOrigin> classify(const net::HttpPeer& peer);

 private:
  struct CachedOrigin {
    std::uint32_t socket = 0;
    protocol::PeerOrigin origin;
  };

  host::PeerClassifier classifier_;
  std::deque<CachedOrigin> cache_;  // the oldest first
};

}  // namespace relay::daemon
