/// The revisions of the Model Context Protocol that are spoken here, oldest first.
///
/// Two eras: legacy ones begin with an `initialize` handshake that holds for the whole process; modern ones say with
/// every request, in `_meta`, which revision it is meant in, and need no handshake.
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
  for (const auto known : kLegacyRevisions)
    if (known == revision) return true;
  return false;
}

/// What a handshake is answered with: the client's own revision when it is known, else our newest.
inline std::string_view answer_to_handshake(std::string_view wanted) {
  for (const auto known : kLegacyRevisions)
    if (known == wanted) return known;
  return kLegacyRevisions.back();
}

/// Newest first, as it is told to clients.
inline json::array supported_revisions() {
  json::array all;
  all.emplace_back(kModernRevision);
  for (auto known = kLegacyRevisions.rbegin(); known != kLegacyRevisions.rend(); ++known) all.emplace_back(*known);
  return all;
}

}  // namespace relay::mcp
