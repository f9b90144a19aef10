/// Files attached to a message: by reference, never inside it.
///
/// Why a copy: `.agent-relay/attachments/<digest>-<name>` in the project is readable by every agent of the project and
///   stays as it was when the message was sent. The digest names the content, so the same file sent again costs
///   nothing. A copy that was modified is replaced, because the messages with its digest still refer to it.
/// Invariants: a copy is on the disk before the message that names it is sent; only regular files
///   are attached, never through a link; directory 0700, files 0600; the size of a file, the number of files and the
///   total size of all copies are bounded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace relay::cli {

inline constexpr std::uint64_t kMaxAttachmentBytes = 16ULL << 20;
inline constexpr std::uint64_t kMaxAttachmentsTotalBytes = 1ULL << 30;

struct Attachment {
  std::string name;  // as the sender named it
  std::string path;  // of the copy, absolute
  std::uint64_t bytes = 0;
  std::string sha256;
};

/// Copies each file; the result is in the order of `files`.
Result<std::vector<Attachment>> copy_attachments(const std::string& project_root, const std::vector<std::string>& files,
                                                 std::uint64_t max_total_bytes = kMaxAttachmentsTotalBytes);

/// The last part of the path with letters, digits, `.`, `_` and `-` only: safe in any shell, never hidden.
std::string safe_file_name(std::string_view path);

}  // namespace relay::cli
