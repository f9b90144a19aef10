/// What a command line is for: tests, a build, a search, or anything else.
///
/// Looked at as words, never run, and never trusted with a decision: it only names an item for people. A line that does
/// several things is what matters most of them: tests before a build before a search.
#pragma once

#include <string_view>

#include "events/work_events.h"

namespace relay::activity {

/// TestRun, Build, Search, or ToolCall when it is none of them.
events::ItemType item_type_of(std::string_view command);

}  // namespace relay::activity
