/// The words of the protocol as types: who, what, when.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/named.h"
#include "base/result.h"

namespace relay {

using AgentName = Named<std::string, struct AgentNameTag>;  // who
using Topic = Named<std::string, struct TopicTag>;          // about what; empty when none was given
using SessionId = Named<std::string, struct SessionIdTag>;  // one life of an agent
using Seq = Named<std::uint64_t, struct SeqTag>;            // when, within one stream; from 1

/// Daemon-assigned, strictly growing within a workspace; orders messages and deliveries alike. 0 is "before all".
using Key = Named<std::int64_t, struct KeyTag>;

namespace protocol {

inline constexpr std::string_view kEveryone = "*";
inline constexpr std::string_view kAllUsers = "@users";
inline constexpr std::string_view kConsensus = "_consensus";
inline constexpr std::string_view kRouter = "_router";
/// `program` of a session that only observes an agent which was started without us: nothing can be delivered to it.
inline constexpr std::string_view kObserverProgram = "agent-relay observer";
inline constexpr std::string_view kGeneralChannel = "#general";

/// A name a person can read aloud, a terminal can print and a directory can bear: 1 to kMaxNameBytes bytes of UTF-8;
/// no control or invisible characters, no white space, no '*', '/' or backslash, no '#' in front (that is a channel),
/// neither "." nor "..", not one of the router's own addresses; of one script and in plain letters (UTS 39, highly
/// restrictive, NFKC), so that it cannot be drawn like another name.
Result<void> check_agent_name(std::string_view name);

/// How the user is called where no name of theirs is known.
inline constexpr std::string_view kUserName = "human";
/// The published dashboard's name.
inline constexpr std::string_view kDashboardName = "Dashboard";

/// For the daemon's own programs alone, which show its token, or for nobody because events name with it what decided
/// (docs/security.md).
bool is_reserved_name(std::string_view name);

/// The reserved name or `human` that this one looks like without being it; empty when there is none.
std::string_view reserved_look_alike(std::string_view name);

/// Never shown in listings: `__*`, Dashboard, `_DashboardUI`, cli.
bool is_internal_name(std::string_view name);

/// Channels and topics: 1 to kMaxTopicBytes bytes of UTF-8 without control and invisible characters.
Result<void> check_channel_name(std::string_view name);

}  // namespace protocol
}  // namespace relay
