/// The daemon as the command line sees it: one call that returns when it has ended.
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

/// A workspace to open at once, besides those that are remembered.
struct WorkspaceToOpen {
  std::string root;    // absolute project root
  std::string socket;  // a further place to listen, or empty
};

enum class LogTo { File, Stderr };

struct DaemonOptions {
  config::Home home;
  config::Settings settings;
  std::function<Result<config::Settings>()> reload_settings;  // asked on SIGHUP; may be empty
  std::string version;
  std::vector<WorkspaceToOpen> open;
  std::string api_token;     // of the HTTP API; empty: none
  std::string capture_home;  // where hooks write what happens in agents; empty: agents are not observed
  LogTo log = LogTo::File;
  int ready_fd = -1;  // gets "ready\n" once it listens, or "error: <sentence>\n"; then it is closed
};

/// Runs until SIGTERM, SIGINT or SHUTDOWN; the value is the exit code. An error means it never began to listen.
Result<int> run_daemon(const DaemonOptions& options);

}  // namespace relay::daemon
