/// Replaces a file as a whole: a reader sees the old or the new content, also after a crash.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace relay::hooks {

struct ReplaceOptions {
  /// The file whose owner and modes the new file gets; 0600 when it does not exist.
  std::string modes_of = {};
};

/// Creates missing parent directories (0700). `path` must not be a link.
Result<void> replace_file(const std::string& path, std::string_view text, const ReplaceOptions& options);

/// Succeeds when there is no such file.
Result<void> remove_file(const std::string& path);

}  // namespace relay::hooks
