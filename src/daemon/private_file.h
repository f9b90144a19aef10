/// Small files that only their owner may read, replaced atomically.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace relay::daemon {

enum class Sync { No, Yes };

/// Writes a temporary file and renames it over the target: a reader sees the old text or the new one, never a part.
/// Sync::Yes makes the text survive a power cut too. Mode 0600.
Result<void> replace_private_file(const std::string& path, std::string_view text, Sync sync = Sync::No);

inline constexpr std::size_t kMaxSmallFileBytes = 4 << 20;

/// The text of a small file; for a missing file empty text, and `exists` is false.
Result<std::string> read_small_file(const std::string& path, bool& exists);

}  // namespace relay::daemon
