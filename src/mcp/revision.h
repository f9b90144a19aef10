/// The supported revisions of the Model Context Protocol, oldest first.
///
/// Two eras: a legacy revision is negotiated by an `initialize` handshake for the whole process; a modern request names
/// its revision in `_meta` and needs no handshake.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "base/json.h"

namespace relay::mcp {

inline constexpr std::array<std::string_view, 4> kLegacyRevisions = {"2024-11-05", "2025-03-26", "2025-06-18",
                                                                     "2025-11-25"};
inline constexpr std::string_view kModernRevision = "2026-07-28";
inline constexpr std::string_view kBatchRevision = "2025-03-26";  // the only one in which a line may be an array

inline constexpr std::string_view kRevisionKey = "io.modelcontextprotocol/protocolVersion";
inline constexpr std::string_view kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
inline constexpr std::string_view kServerInfoKey = "io.modelcontextprotocol/serverInfo";
inline constexpr std::string_view kSubscriptionKey = "io.modelcontextprotocol/subscriptionId";

enum class Era { Legacy, Modern };

inline bool is_legacy(std::string_view revision) {
  for (const auto supported : kLegacyRevisions)
    if (supported == revision) return true;
  return false;
}

/// The revision that a handshake selects: the client's own when it is supported, else the newest legacy one.
inline std::string_view select_revision(std::string_view requested) {
  for (const auto supported : kLegacyRevisions)
    if (supported == requested) return supported;
  return kLegacyRevisions.back();
}

/// Newest first, as sent to clients.
inline json::array supported_revisions() {
  json::array all;
  all.emplace_back(kModernRevision);
  for (auto at = kLegacyRevisions.rbegin(); at != kLegacyRevisions.rend(); ++at) all.emplace_back(*at);
  return all;
}

}  // namespace relay::mcp
