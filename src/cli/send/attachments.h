/// Files that travel with a message: by reference, never in it.
///
/// A copy lies in the project, `.agent-relay/attachments/<digest>-<name>`, where every agent of the project may read it
///   and where it stays as it was when it was sent. The digest names the content, so the same file sent again costs
///   nothing; a copy that somebody changed is put right, for the messages that name it still name its digest.
/// Invariants: a copy is on the disk before the message that names it is sent; only ordinary files are taken, never
///   through a link; directory 0700, files 0600; each file, their number and all copies together have a bound.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace relay::cli {

inline constexpr std::uint64_t kMaxAttachmentBytes = 16ULL << 20;
inline constexpr std::uint64_t kMaxKeptBytes = 1ULL << 30;

struct Attachment {
  std::string name;  // as its sender calls it
  std::string path;  // of the copy, absolute
  std::uint64_t bytes = 0;
  std::string sha256;
};

/// One copy for each file, in the same order.
Result<std::vector<Attachment>> keep_attachments(const std::string& project_root, const std::vector<std::string>& files,
                                                 std::uint64_t most_kept = kMaxKeptBytes);

/// The last part of the path with letters, digits, `.`, `_` and `-` only: safe in any shell, never hidden.
std::string safe_file_name(std::string_view path);

}  // namespace relay::cli
