/// The names a shell or the chat may offer: agents, channels, or both.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "cli/connection.h"

namespace relay::cli {

/// `kind` is agents, channels or recipients (both). Names that a terminal cannot show as they are are left out: what was
/// completed would be another name.
Result<std::vector<std::string>> names_of_kind(Connection& connection, std::string_view kind);

/// The same from one answer of the daemon: LIST_AGENTS has them in `agents`, CHANNELS in `channels`.
std::vector<std::string> names_in(const json::object& answer, std::string_view list);

}  // namespace relay::cli
