/// Classifies a command line: tests, a build, a search, or another command.
///
/// The line is only split into words, never run, and no decision depends on it: it labels an item for users. A line
/// with several commands gets the most important type: tests before a build before a search.
#pragma once

#include <string_view>

#include "events/work_events.h"

namespace relay::activity {

/// TestRun, Build, Search, or else ToolCall.
events::ItemType item_type_of(std::string_view command);

}  // namespace relay::activity
