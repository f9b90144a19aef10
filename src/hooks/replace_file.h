/// A file replaced whole: whoever looks sees the old or the new, also after a crash.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace relay::hooks {

struct ReplaceOptions {
  /// The file whose owner and modes the new one gets; 0600 when it is not there.
  std::string modes_of = {};
};

/// Makes the directories above it where they are missing (0700). `path` must not be a link.
Result<void> replace_file(const std::string& path, std::string_view text, const ReplaceOptions& options);

/// Nothing happens when there is none.
Result<void> remove_file(const std::string& path);

}  // namespace relay::hooks
