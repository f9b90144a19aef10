/// A child process; the destructor kills and reaps it.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace relay::crash {

struct Command {
  std::vector<std::string> argv;                   // the program's path first
  std::map<std::string, std::string> environment;  // complete
  std::string directory;
  std::string output;  // file to which stdout and stderr are appended
};

class Process {
 public:
  static Result<Process> start(const Command& command);
  Process() = default;
  Process(Process&& other) noexcept : pid_{std::exchange(other.pid_, 0)} {}
  Process& operator=(Process&& other) noexcept;
  ~Process() { kill_and_reap(); }

  /// Kills with -9 and waits for the exit.
  void kill_and_reap();
  void signal(int number) const;
  /// 0 if there is none.
  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Whether the process has exited; reaps it then.
  [[nodiscard]] bool exited();
  /// Waits for the exit, at most this many milliseconds.
  [[nodiscard]] bool wait_for_exit(int milliseconds);

 private:
  explicit Process(pid_t pid) : pid_{pid} {}
  pid_t pid_ = 0;
};

}  // namespace relay::crash
