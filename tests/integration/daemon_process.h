/// The real daemon as a child of the test, in a separate home and projects.
///
/// Everything is in one temporary directory; the child never outlives this object. Waiting is done on pipes and
/// process ends with a deadline, never by sleeping.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "net/testing/temporary_directory.h"

namespace relay::integration {

struct Ended {
  int exit_code = -1;  // -1 when a signal ended it
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
  /// A project root inside the test's directory, made when it is new.
  std::string project(const std::string& name = "project");
  [[nodiscard]] std::string project_directory(const std::string& name = "project") const;
  [[nodiscard]] std::string socket(const std::string& name = "project") const;
  [[nodiscard]] std::string control_socket() const { return home() + "/daemon.sock"; }
  [[nodiscard]] std::string log() const;

  std::map<std::string, std::string> environment;  // beyond HOME, AGENT_RELAY_HOME, XDG_RUNTIME_DIR and PATH
  std::function<void()> in_child;                  // between fork and exec

  /// `agent-relay up --foreground` in a project; what it said on its ready pipe: "ready\n" or "error: …\n".
  std::string start(std::vector<std::string> more_arguments = {}, const std::string& project_name = "project");
  [[nodiscard]] pid_t pid() const { return pid_; }
  void signal(int number) const;
  /// Waits for the end (with a deadline, after which it is killed).
  Ended wait();
  Ended end(int number) {
    signal(number);
    return wait();
  }

  /// Runs `agent-relay` with these arguments in a project; its exit code and everything it wrote.
  struct Said {
    int exit_code = -1;
    std::string text;
  };
  Said command(std::vector<std::string> arguments, const std::string& project_name = "project");

 private:
  pid_t spawn(std::vector<std::string> arguments, const std::string& project_name, int inherited, int as);

  net::testing::TemporaryDirectory directory_;
  pid_t pid_ = -1;
};

/// The whole text of a file, empty when there is none.
std::string content_of(const std::string& path);
mode_t mode_of(const std::string& path);

}  // namespace relay::integration
