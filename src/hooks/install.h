/// Our hooks in an agent's own settings, for always: what would change, as a value; then the change itself.
///
/// Why in two steps: the person sees the difference before anything is written, and everything but the writing can be
///   tested without a disk.
/// Always so: what else is in the file stays, byte for byte; taking the hooks out again gives the bytes from before
///   when nothing else changed (the copy made beside the file says what those were). A file that cannot be read as JSON
///   is not touched.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "hooks/agent.h"
#include "hooks/installed_hooks.h"

namespace relay::hooks {

/// An agent's file and the copy of how it was before us, as they are now.
struct HooksFile {
  std::string path;    // as the person knows it
  std::string target;  // where it is: behind links, if the path is one
  std::string copy;    // the path of the copy
  std::optional<std::string> text = {};
  std::optional<std::string> text_before = {};  // of the copy
};

Result<HooksFile> read_hooks_file(AgentCli agent, const EnvironmentBlock& environment);

/// What a file is to become; empty: it goes.
struct FileEdit {
  std::optional<std::string> text = {};
  bool makes_copy = false;    // of what is there now
  bool removes_copy = false;  // it said what the file now is again
};

/// Empty: there is nothing to do.
Result<std::optional<FileEdit>> plan_install(AgentCli agent, const HooksFile& file, std::string_view program);
Result<std::optional<FileEdit>> plan_uninstall(AgentCli agent, const HooksFile& file);

/// Atomic, with the owner's modes kept (0600 for a new file). Fails when the file is no longer what was read.
Result<void> execute(const HooksFile& file, const FileEdit& change);

enum class InstallState : std::uint8_t { No, Partly, Yes };
std::string_view name_of(InstallState state);

struct HooksStatus {
  InstallState state = InstallState::No;
  std::string program = {};         // the path they call; the first, when there are several
  bool stale = false;               // that path is not this program
  std::string blocked_reason = {};  // why they would not run
  std::string problem = {};         // why the file cannot be read
};
HooksStatus status_of(AgentCli agent, const HooksFile& file, std::string_view program,
                      const EnvironmentBlock& environment);

}  // namespace relay::hooks
