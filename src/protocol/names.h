/// The identifiers of the protocol as types.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/named.h"
#include "base/result.h"

namespace relay {

using AgentName = Named<std::string, struct AgentNameTag>;
using Topic = Named<std::string, struct TopicTag>;          // empty when the message has none
using SessionId = Named<std::string, struct SessionIdTag>;  // one connection of an agent, with its resumes
using Seq = Named<std::uint64_t, struct SeqTag>;            // the number within one stream; from 1

/// Daemon-assigned, strictly growing within a workspace; orders messages and deliveries alike. 0 is "before all".
using Key = Named<std::int64_t, struct KeyTag>;

namespace protocol {

inline constexpr std::string_view kEveryone = "*";
inline constexpr std::string_view kAllUsers = "@users";
inline constexpr std::string_view kConsensus = "_consensus";
inline constexpr std::string_view kRouter = "_router";
/// The `program` of a session that only observes an agent started without the relay: nothing can be delivered to it.
inline constexpr std::string_view kObserverProgram = "agent-relay observer";
inline constexpr std::string_view kGeneralChannel = "#general";

/// A name that can be pronounced, printed by a terminal and used as a directory name: 1 to kMaxNameBytes bytes of
/// UTF-8; no control or invisible characters, no white space, no '*', '/' or backslash, no '#' in front (that is a
/// channel), neither "." nor "..", not one of the router's own addresses; of one script and in plain characters (UTS
/// 39, highly restrictive, NFKC), so that it cannot be drawn like another name.
Result<void> check_agent_name(std::string_view name);

/// The name of the user where no other is given.
inline constexpr std::string_view kUserName = "human";
/// The name of the published dashboard.
inline constexpr std::string_view kDashboardName = "Dashboard";

/// Reserved for the daemon's own programs, which present its token, or for events, which use it for decisions that no
/// agent made (docs/security.md).
bool is_reserved_name(std::string_view name);

/// The reserved name that this one resembles without being equal; empty when there is none.
std::string_view reserved_look_alike(std::string_view name);

/// Hidden in listings: `__*`, Dashboard, `_DashboardUI`, cli.
bool is_internal_name(std::string_view name);

/// Channels and topics: 1 to kMaxTopicBytes bytes of UTF-8 without control and invisible characters.
Result<void> check_channel_name(std::string_view name);

}  // namespace protocol
}  // namespace relay
