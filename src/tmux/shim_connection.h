/// The host's side of a keeper (keeper.h): the door it comes through, and the conversation with it.
///
/// Ownership: the door owns a private directory with one socket in it; both are gone with the door. The link owns its
///   connection: closing it lets the keeper end.
/// Threading: loop thread only. `accept` and `start` are for the beginning and wait, to a deadline; later nothing waits.
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

  /// The program's process, once it runs; otherwise why it does not.
  Result<pid_t> start(const pty::Command& command, SteadyTime deadline);

  /// Readable when `read` has something to say.
  [[nodiscard]] int fd() const { return fd_.get(); }

  struct ShimStatus {
    std::optional<pty::ExitStatus> ended;
    bool closed = false;  // the keeper is gone
  };
  ShimStatus read();

  /// To the pane's terminal, behind everything the program wrote there; only after it ended. No line feeds.
  void say(std::string_view text);

 private:
  UniqueFd fd_;
  std::string received_;
};

class ShimListener {
 public:
  /// In that directory, or where temporary files are.
  static Result<ShimListener> open(const std::string& directory);
  ~ShimListener();
  ShimListener(ShimListener&& other) noexcept;
  ShimListener& operator=(ShimListener&&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] int fd() const { return listener_.get(); }
  /// Empty while nobody came.
  [[nodiscard]] std::optional<ShimConnection> accept() const;

 private:
  ShimListener(std::string directory, std::string path, UniqueFd listener)
      : directory_{std::move(directory)}, path_{std::move(path)}, listener_{std::move(listener)} {}

  std::string directory_;
  std::string path_;
  UniqueFd listener_;
};

/// Until the descriptor can be read or the deadline comes; false: the deadline.
bool wait_readable(int fd, SteadyTime deadline);

}  // namespace relay::tmux
