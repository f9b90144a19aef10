/// The names a shell or the chat may offer: agents, channels, or both; agents that ask something; agents with a screen; and
/// the ids of messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "cli/wire/daemon_connection.h"

namespace relay::cli {

/// `kind` is agents, channels, recipients (both), permissions or questions (agents that ask), or messages (the newest ids,
/// newest first, bounded). Names that a terminal cannot show as they are are left out: what was
/// completed would be another name.
Result<std::vector<std::string>> names_of_kind(DaemonConnection& connection, std::string_view kind);

/// Agents whose hosts are recorded there and can be attached to; no daemon is needed.
std::vector<std::string> names_of_hosts(const std::string& directory);

/// The same from one answer of the daemon: LIST_AGENTS has them in `agents`, CHANNELS in `channels`.
std::vector<std::string> names_in(const json::object& answer, std::string_view list);

}  // namespace relay::cli
