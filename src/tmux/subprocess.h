/// A process whose standard input, output and error are one socket.
///
/// Why not pty/spawn.h: this process needs no terminal, and must not be hung up or interrupted with the user's.
/// Why it is killed with us: tmux 3.3a never releases a control client that disconnected with output pending, unless
///   the client's process ends, and makes the pane wait for it.
/// Ownership: owns the process; destroying it closes the socket and kills the process. The thread that started it must
///   live as long as it is needed.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace relay::tmux {

class Subprocess {
 public:
  /// `program` is a path. If it cannot be executed, the socket closes at once.
  static Result<Subprocess> start(const std::string& program, const std::vector<std::string>& argv,
                                  const std::vector<std::string>& environment);
  ~Subprocess();
  Subprocess(Subprocess&& other) noexcept : pid_{std::exchange(other.pid_, -1)}, socket_{std::move(other.socket_)} {}
  Subprocess& operator=(Subprocess&&) = delete;

  [[nodiscard]] int fd() const { return socket_.get(); }

  /// Reads everything until the process closes its end, up to a small bound.
  Result<std::string> read_all(std::size_t max_bytes, SteadyTime deadline);

 private:
  Subprocess(pid_t pid, UniqueFd socket) : pid_{pid}, socket_{std::move(socket)} {}

  pid_t pid_;
  UniqueFd socket_;
};

}  // namespace relay::tmux
