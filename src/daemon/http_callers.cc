#include "daemon/http_callers.h"

#include <algorithm>

#include "pty/process_table.h"

namespace relay::daemon {

HttpCallers::HttpCallers(const config::Home& home)
    : classifier_{[projects = home.projects] { return host::host_directories(projects); },
                  std::vector{home.projects, home.runtime}} {}

std::optional<protocol::PeerOrigin> HttpCallers::classify(const net::HttpPeer& peer) {
  // From another machine, or the kernel does not report the owner: the token authorized it.
  if (!peer.uid || !peer.ends) return protocol::PeerOrigin{};
  const auto owner = net::socket_owner(*peer.ends);
  if (!owner) return std::nullopt;
  if (const auto cached = std::ranges::find(cache_, owner->inode, &CachedOrigin::socket); cached != cache_.end())
    return cached->origin;
  const auto process = pty::find_socket_holder(owner->inode, owner->uid, kMaxDescriptors);
  auto origin = process ? classifier_.classify(*process) : protocol::PeerOrigin{};
  // A process that ended during the search was not found, or not with its parents.
  if (origin.kind == protocol::OriginKind::Unknown && !net::socket_owner(*peer.ends)) return std::nullopt;
  if (cache_.size() == kMaxCached) cache_.pop_front();
  cache_.push_back({owner->inode, origin});
  return origin;
}

}  // namespace relay::daemon
