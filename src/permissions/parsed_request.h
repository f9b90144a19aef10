/// A permission request in the two readings that rules use.
///
/// A rule that approves reads strictly: one simple command, one path. A rule that asks or denies reads loosely: every
///   command that may be inside the text and every piece that may be a file, so that quotes, pipes, `sudo` or `sh -c`
///   hide nothing. The loose reading finds too much, and a determined writer can still evade it; only the strict
///   reading is a barrier.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "permissions/permission_request.h"
#include "permissions/shell_words.h"

namespace relay::permissions {

struct ParsedRequest {
  explicit ParsedRequest(const PermissionRequest& from);

  const PermissionRequest& request;  // outlives this
  std::string tool;
  bool runs = false;                    // it has a command; the `command` of an edit is its patch
  std::optional<SimpleCommand> simple;  // the command, when it is one
  std::string not_simple;               // else the reason
  std::vector<std::string> commands;    // loose: without quotes, one blank between words
  std::vector<std::string> pieces;      // loose: of path, command and description; each once
};

}  // namespace relay::permissions
