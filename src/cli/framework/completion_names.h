/// Names for completion in shells and the chat: agents, channels, agents with pending prompts, agents with a screen, and
/// message ids.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "cli/wire/daemon_connection.h"

namespace relay::cli {

/// `kind` is agents, channels, recipients (both), permissions or questions (agents with such a prompt), or messages (the
/// newest ids, newest first). Leaves out names that a terminal cannot show unchanged: a completed one would differ.
Result<std::vector<std::string>> names_of_kind(DaemonConnection& connection, std::string_view kind);

/// Agents with a host in that directory to which a terminal can attach; needs no daemon.
std::vector<std::string> names_of_hosts(const std::string& directory);

/// The names in a response of the daemon: LIST_AGENTS has them in `agents`, CHANNELS in `channels`.
std::vector<std::string> names_in(const json::object& answer, std::string_view list);

}  // namespace relay::cli
