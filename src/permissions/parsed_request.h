/// An ask as rules look at it: in two readings.
///
/// What approves reads strictly: one simple command, one path. What asks or denies reads loosely: every command there
///   may be inside the text, every piece that may be a file, so that quotes, pipes, `sudo` or `sh -c` hide nothing. The
///   loose reading finds more than there is, and a determined writer can still get past it; only the strict one is a
///   wall.
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
  bool runs = false;                    // a command is known; what an edit calls so is its patch
  std::optional<SimpleCommand> simple;  // the command, when it is one
  std::string not_simple;               // else why not
  std::vector<std::string> commands;    // loosely: without quotes, one blank between words
  std::vector<std::string> pieces;      // loosely: of path, command and description; each once
};

}  // namespace relay::permissions
