/// The relay's hooks in an agent's own settings, permanently: the change as a value, then the change itself.
///
/// Why in two steps: the user sees the difference before the file is written, and everything but the writing can be
///   tested without a disk.
/// Invariants: everything else in the file stays, byte for byte. Removing the hooks restores the original bytes when
///   nothing else changed (the copy beside the file holds them). A file that is not valid JSON is not touched.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "hooks/agent.h"
#include "hooks/installed_hooks.h"

namespace relay::hooks {

/// An agent's settings file and the copy from before the installation, as they are now.
struct HooksFile {
  std::string path;    // as the user specified it
  std::string target;  // the real file, when the path is a link
  std::string copy;    // the path of the copy
  std::optional<std::string> text = {};
  std::optional<std::string> text_before = {};  // of the copy
};

Result<HooksFile> read_hooks_file(AgentCli agent, const EnvironmentBlock& environment);

/// The new content of the file; empty: the file is removed.
struct FileEdit {
  std::optional<std::string> text = {};
  bool makes_copy = false;    // of the current content
  bool removes_copy = false;  // the file is now equal to the copy
};

/// Empty when nothing has to change.
Result<std::optional<FileEdit>> plan_install(AgentCli agent, const HooksFile& file, std::string_view program);
Result<std::optional<FileEdit>> plan_uninstall(AgentCli agent, const HooksFile& file);

/// Atomic; preserves the owner's modes (0600 for a new file). Fails when the file has changed since it was read.
Result<void> execute(const HooksFile& file, const FileEdit& change);

enum class InstallState : std::uint8_t { No, Partly, Yes };
std::string_view name_of(InstallState state);

struct HooksStatus {
  InstallState state = InstallState::No;
  std::string program = {};         // the path the hooks call; the first of several
  bool stale = false;               // the path is not this program
  std::string blocked_reason = {};  // why the hooks would not run
  std::string problem = {};         // why the file cannot be read
};
HooksStatus status_of(AgentCli agent, const HooksFile& file, std::string_view program,
                      const EnvironmentBlock& environment);

}  // namespace relay::hooks
