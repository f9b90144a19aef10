/// The host's side of the shim (shim.h): the socket it connects to, and the connection.
///
/// Ownership: the listener owns a private directory with one socket in it, and removes both. The connection closes its
///   socket; the shim then exits.
/// Threading: loop thread only. `accept` and `start` are for the start and block until a deadline; nothing else blocks.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "pty/command.h"
#include "pty/exit_status.h"

namespace relay::tmux {

class ShimConnection {
 public:
  explicit ShimConnection(UniqueFd fd) : fd_{std::move(fd)} {}

  /// The program's process id, once it runs; otherwise the error.
  Result<pid_t> start(const pty::Command& command, SteadyTime deadline);

  /// Readable when `read` has status.
  [[nodiscard]] int fd() const { return fd_.get(); }

  struct ShimStatus {
    std::optional<pty::ExitStatus> ended;
    bool closed = false;  // the shim has disconnected
  };
  ShimStatus read();

  /// Writes to the pane's terminal, behind all output of the program; only after it ended. No line feeds.
  void write_to_terminal(std::string_view text);

 private:
  UniqueFd fd_;
  std::string received_;
};

class ShimListener {
 public:
  /// Opens a socket in this directory, or in the one for temporary files.
  static Result<ShimListener> open(const std::string& directory);
  ~ShimListener();
  ShimListener(ShimListener&& other) noexcept;
  ShimListener& operator=(ShimListener&&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] int fd() const { return listener_.get(); }
  /// Empty until a shim connects.
  [[nodiscard]] std::optional<ShimConnection> accept() const;

 private:
  ShimListener(std::string directory, std::string path, UniqueFd listener)
      : directory_{std::move(directory)}, path_{std::move(path)}, listener_{std::move(listener)} {}

  std::string directory_;
  std::string path_;
  UniqueFd listener_;
};

/// Waits until the descriptor is readable; false at the deadline.
bool wait_readable(int fd, SteadyTime deadline);

}  // namespace relay::tmux
