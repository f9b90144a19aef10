/// `apply_patch`: changes to several files in one text, as Codex and OpenCode take them.
///
///     *** Begin Patch
///     *** Add File: new.txt          then lines that begin with +
///     *** Update File: old.txt       perhaps *** Move to: other.txt, then hunks: @@ and lines with a blank, - or +
///     *** Delete File: gone.txt
///     *** End Patch
///
/// Any text is taken; what is no patch has no files. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "transcripts/entry.h"

namespace relay::activity {

inline constexpr std::size_t kMaxPatchedFiles = 256;

/// What it would do, in its order; `tool` is left empty.
std::vector<transcripts::FileChange> files_in_patch(std::string_view patch);

}  // namespace relay::activity
