/// A message that an agent wrote to a file: header lines, an empty line, the text; or one JSON object.
///
///     TO: Bob
///     THREAD: review-12
///
///     The text, as many lines as it needs.
///
/// Keys in any case: TO, KIND, THREAD, TOPIC, PROJECT, SUBJECT, IMPORTANCE, REPLY-TO, ACK-REQUIRED; for workers KIND: spawn
/// with NAME and CLI, KIND: release with NAME. The caller reads the file.
#pragma once

#include <string_view>

#include "commands/command.h"

namespace relay::commands {

/// A message, spawn or release; or the CommandError for the agent.
Command read_outbox_file(std::string_view content, const SourceLocation& location = {});

}  // namespace relay::commands
