/// The real daemon as a child of the test, in a separate home and projects.
///
/// Everything is in one temporary directory; the child never outlives this object. Waits use pipes and pidfds with a
/// deadline, never sleep.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "net/testing/temporary_directory.h"

namespace relay::integration {

struct ExitStatus {
  int exit_code = -1;  // -1 after a signal
  int signal = 0;
};

class DaemonProcess {
 public:
  DaemonProcess();
  ~DaemonProcess();
  DaemonProcess(const DaemonProcess&) = delete;
  DaemonProcess& operator=(const DaemonProcess&) = delete;

  [[nodiscard]] std::string path(const std::string& name) const { return directory_.file(name); }
  [[nodiscard]] std::string home() const { return path("home"); }
  /// A project root inside the test's directory, created if absent.
  std::string project(const std::string& name = "project");
  [[nodiscard]] std::string project_directory(const std::string& name = "project") const;
  [[nodiscard]] std::string socket(const std::string& name = "project") const;
  [[nodiscard]] std::string control_socket() const { return home() + "/daemon.sock"; }
  [[nodiscard]] std::string log() const;

  std::map<std::string, std::string> environment;  // beyond HOME, AGENT_RELAY_HOME, XDG_RUNTIME_DIR and PATH
  std::function<void()> in_child;                  // between fork and exec

  /// Runs `agent-relay up --foreground` in a project. Returns its line on the ready pipe: "ready\n" or "error: …\n".
  std::string start(std::vector<std::string> more_arguments = {}, const std::string& project_name = "project");
  [[nodiscard]] pid_t pid() const { return pid_; }
  void signal(int number) const;
  /// Waits for the exit; kills the process at the deadline.
  ExitStatus wait();
  ExitStatus terminate(int number) {
    signal(number);
    return wait();
  }

  struct CommandResult {
    int exit_code = -1;
    std::string output;  // stdout and stderr
  };
  /// Runs `agent-relay` with these arguments in a project.
  CommandResult command(std::vector<std::string> arguments, const std::string& project_name = "project");

 private:
  pid_t spawn(std::vector<std::string> arguments, const std::string& project_name, int inherited, int child_fd);

  net::testing::TemporaryDirectory directory_;
  pid_t pid_ = -1;
};

/// The contents of a file, empty if it does not exist.
std::string content_of(const std::string& path);
mode_t mode_of(const std::string& path);

}  // namespace relay::integration
