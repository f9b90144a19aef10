/// The structured form: `[[RELAY]]{"to":"Bob","type":"message","body":"..."}[[/RELAY]]`.
#pragma once

#include <string_view>

#include "commands/command.h"

namespace relay::commands {

inline constexpr std::string_view kBlockForm = R"([[RELAY]]{"to":"Bob","type":"message","body":"your text"}[[/RELAY]])";
inline constexpr std::string_view kSummaryForm = R"([[SUMMARY]]{"currentTask":"..."}[[/SUMMARY]])";
inline constexpr std::string_view kMetadataForm =
    R"([[RELAY_METADATA]]{"subject":"...","importance":60}[[/RELAY_METADATA]])";

/// A message (`to` and `type` are required; `text` replaces `body`), a spawn or a release; or an error.
Command read_block(std::string_view text, const SourceLocation& location, std::string_view usage = kBlockForm);

Result<MessageMetadata> read_metadata(std::string_view text);
/// Fills the unset members of `metadata` from `fallback`.
void fill_metadata(MessageMetadata& metadata, const MessageMetadata& fallback);

/// JSON, or plain text.
json::object read_session_end(std::string_view text);

}  // namespace relay::commands
