/// Small files only their owner may read, replaced whole or not at all.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace relay::daemon {

enum class Sync { No, Yes };

/// Writes beside the target, then renames over it: a reader sees the old text or the new, never half of one.
/// Sync::Yes makes the text survive a power cut as well. Mode 0600.
Result<void> replace_private_file(const std::string& path, std::string_view text, Sync sync = Sync::No);

inline constexpr std::size_t kMaxSmallFileBytes = 4 << 20;

/// The whole text of a small file; empty text and `false` in `exists` when there is none.
Result<std::string> read_small_file(const std::string& path, bool& exists);

}  // namespace relay::daemon
