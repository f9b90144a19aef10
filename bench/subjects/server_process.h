/// A server that is measured: a child of ours in a temporary directory of its own; both are gone when this is.
///
/// Invariant: the child dies with us, however we die (the kernel sees to it); the directory goes when we end in order,
///   which an interrupt also does (work/driver.h).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace relay::bench {

/// What the server used since it was started.
struct Usage {
  double cpu_seconds = 0;
  double memory_kib = 0;
  double peak_memory_kib = 0;  // 0 for code of our own: a fork has the driver's memory, and who could tell them apart
};

class ServerProcess {
 public:
  /// Only the directory (0700); nothing runs yet.
  static Result<ServerProcess> in_new_place();
  ServerProcess(ServerProcess&& other) noexcept;
  ServerProcess& operator=(ServerProcess&&) = delete;
  ~ServerProcess();

  [[nodiscard]] const std::string& place() const { return place_; }
  [[nodiscard]] std::string file(std::string_view name) const { return place_ + "/" + std::string{name}; }

  /// `words[0]` is the program; the environment is bare but for PATH, HOME (the place) and these. Output goes to `out`.
  Result<void> start(std::vector<std::string> words, std::vector<std::string> environment = {});
  /// Code of our own as the server.
  Result<void> start(const std::function<void()>& serve);
  /// Tries until it answers or is dead.
  Result<void> until(const std::function<bool()>& answers);

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] Usage usage() const;

 private:
  explicit ServerProcess(std::string place) : place_{std::move(place)} {}

  std::string place_;
  pid_t pid_ = 0;
  bool runs_our_code_ = false;
};

/// Runs it there to its end, without output and with that file as its input, and returns its exit code.
Result<int> run_in(const std::string& place, std::vector<std::string> words, std::vector<std::string> environment,
                   const std::string& input = "/dev/null");
/// Where a program is, if it is installed (also in the sbin directories).
std::optional<std::string> find_program(std::string_view name);
/// A port of loopback that nobody uses at the moment.
Result<std::uint16_t> free_port();

}  // namespace relay::bench
