#include "daemon/http_callers.h"

#include <algorithm>

#include "pty/process_table.h"

namespace relay::daemon {

HttpCallers::HttpCallers(const config::Home& home)
    : classifier_{[projects = home.projects] { return host::host_directories(projects); },
                  std::vector{home.projects, home.runtime}} {}

std::optional<protocol::PeerOrigin> HttpCallers::classify(const net::HttpPeer& peer) {
  // From another machine, or of a kernel that does not tell: the token let it in.
  if (!peer.uid || !peer.ends) return protocol::PeerOrigin{};
  const auto owner = net::socket_owner(*peer.ends);
  if (!owner) return std::nullopt;
  if (const auto known = std::ranges::find(known_, owner->inode, &Known::socket); known != known_.end())
    return known->origin;
  const auto process = pty::find_socket_holder(owner->inode, owner->uid, kMaxDescriptors);
  auto origin = process ? classifier_.classify(*process) : protocol::PeerOrigin{};
  // A process that ended during the search was not found, or not with its parents.
  if (origin.kind == protocol::OriginKind::Unknown && !net::socket_owner(*peer.ends)) return std::nullopt;
  if (known_.size() == kMaxKnown) known_.pop_front();
  known_.push_back({owner->inode, origin});
  return origin;
}

}  // namespace relay::daemon
