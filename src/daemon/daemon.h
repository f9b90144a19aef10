/// The daemon for the command line: one call that returns when the daemon has ended.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/paths.h"
#include "config/settings.h"

namespace relay::daemon {

enum class Errc { AlreadyRunning, NoSuchRoot, NotOpen };
std::string_view describe(Errc code);

/// A workspace to open at the start, besides the saved ones.
struct WorkspaceToServe {
  std::string root;    // absolute project root
  std::string socket;  // an additional socket path, or empty
};

enum class LogTo { File, Stderr };

struct DaemonOptions {
  config::Home home;
  config::Settings settings;
  std::function<Result<config::Settings>()> reload_settings;  // called on SIGHUP; may be empty
  std::string version;
  std::vector<WorkspaceToServe> open;
  std::string api_token;     // of the HTTP API; empty: none
  std::string capture_home;  // where hooks record the sessions of agents; empty: no agent is observed
  LogTo log = LogTo::File;
  int ready_fd = -1;  // gets "ready\n" once the daemon listens, or "error: <message>\n"; then it is closed
};

/// Runs until SIGTERM, SIGINT or SHUTDOWN; the value is the exit code. An error means that it never listened.
Result<int> run_daemon(const DaemonOptions& options);

}  // namespace relay::daemon
