/// BYE: a session reports that it has ended, and how. Off the hot path.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace relay::protocol {

enum class EndReason : std::uint8_t { Completed, Crashed, Released };

/// The reasons the daemon gives when it ends a connection.
inline constexpr std::string_view kDaemonStopping = "the daemon is stopping";
inline constexpr std::string_view kWorkspaceClosed = "the workspace was closed (agent-relay down)";

struct Bye {
  EndReason end = EndReason::Completed;
  std::string by = {};      // who released it: `human`, `api` or the name of an agent
  std::string reason = {};  // one sentence; may be empty
  WallMs ended_at = 0;      // 0: the time of the BYE
};

/// An empty payload means a completed session.
Result<Bye> parse_bye(std::string_view payload);
std::string write_bye(const Bye& bye);

}  // namespace relay::protocol
