/// A child process that is never left behind: destroying it kills and reaps it.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace relay::crash {

struct Command {
  std::vector<std::string> words;                // the program's path first
  std::map<std::string, std::string> variables;  // the whole environment
  std::string directory;
  std::string output;  // file its words are appended to
};

class Process {
 public:
  static Result<Process> start(const Command& command);
  Process() = default;
  Process(Process&& other) noexcept : pid_{std::exchange(other.pid_, 0)} {}
  Process& operator=(Process&& other) noexcept;
  ~Process() { kill_and_reap(); }

  /// Kills with -9 and waits for the end.
  void kill_and_reap();
  void signal(int number) const;
  /// 0 when there is none.
  [[nodiscard]] pid_t pid() const { return pid_; }
  /// The process has ended by itself; reaps it then.
  [[nodiscard]] bool ended();
  /// Waits for the end up to so many milliseconds.
  [[nodiscard]] bool wait_for_end(int milliseconds);

 private:
  explicit Process(pid_t pid) : pid_{pid} {}
  pid_t pid_ = 0;
};

}  // namespace relay::crash
