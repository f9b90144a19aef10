/// A message an agent laid down as a file: header lines, an empty line, the text; or one JSON object.
///
///     TO: Bob
///     THREAD: review-12
///
///     The text, as many lines as it needs.
///
/// Keys in any case: TO, KIND, THREAD, PROJECT, SUBJECT, IMPORTANCE, REPLY-TO; for workers KIND: spawn with NAME and
///   CLI,
/// KIND: release with NAME. Reading the file is somebody else's work.
#pragma once

#include <string_view>

#include "commands/command.h"

namespace relay::commands {

/// A command, spawn or release; or the Mistake to tell the agent.
Command read_outbox_file(std::string_view content, const SourceLocation& location = {});

}  // namespace relay::commands
