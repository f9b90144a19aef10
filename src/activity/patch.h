/// `apply_patch`: changes to several files in one text, as in Codex and OpenCode.
///
///     *** Begin Patch
///     *** Add File: new.txt          then lines that start with +
///     *** Update File: old.txt       perhaps *** Move to: other.txt, then hunks: @@ and lines with a blank, - or +
///     *** Delete File: removed.txt
///     *** End Patch
///
/// Accepts any text; text that is not a patch has no files. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "transcripts/entry.h"

namespace relay::activity {

inline constexpr std::size_t kMaxPatchedFiles = 256;

/// The file changes, in order; `tool` is empty.
std::vector<transcripts::FileChange> files_in_patch(std::string_view patch);

}  // namespace relay::activity
