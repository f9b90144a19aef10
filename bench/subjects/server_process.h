/// A measured server: a child process in its own temporary directory. The destructor removes both.
///
/// Invariants: the kernel kills the child when the driver dies. The directory is removed on an orderly exit, which
///   includes an interrupt (workloads/driver.h).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace relay::bench {

/// The resources that the server has used since its start.
struct Usage {
  double cpu_seconds = 0;
  double memory_kib = 0;
  double peak_memory_kib = 0;  // 0 for a forked server: it shares the driver's memory
};

class ServerProcess {
 public:
  /// Creates the directory (0700); no process yet.
  static Result<ServerProcess> create();
  ServerProcess(ServerProcess&& other) noexcept;
  ServerProcess& operator=(ServerProcess&&) = delete;
  ~ServerProcess();

  [[nodiscard]] const std::string& directory() const { return directory_; }
  [[nodiscard]] std::string file(std::string_view name) const { return directory_ + "/" + std::string{name}; }

  /// `args[0]` is the program. The environment has only PATH, HOME (the directory) and these. Output goes to `out`.
  Result<void> start(std::vector<std::string> args, std::vector<std::string> environment = {});
  /// Runs a function as the server in a forked process.
  Result<void> start(const std::function<void()>& serve);
  /// Polls until the server responds or has exited.
  Result<void> until(const std::function<bool()>& is_ready);

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] Usage usage() const;

 private:
  explicit ServerProcess(std::string directory) : directory_{std::move(directory)} {}

  std::string directory_;
  pid_t pid_ = 0;
  bool forked_ = false;
};

/// Runs a program in a directory with an input file and without output. Returns its exit code.
Result<int> run_in(const std::string& directory, std::vector<std::string> args, std::vector<std::string> environment,
                   const std::string& input = "/dev/null");
/// The path of an installed program, also in the sbin directories.
std::optional<std::string> find_program(std::string_view name);
/// A free loopback port.
Result<std::uint16_t> free_port();

}  // namespace relay::bench
