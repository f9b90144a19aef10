/// A process of ours that talks over one socket: its input, output and errors all lead to us.
///
/// Why not pty/spawn.h: this one wants no terminal, and must not be hung up or interrupted with the person's.
/// Why it is killed when we are: tmux 3.3a never lets go of a client in control mode that went away with output still
///   owed to it, unless the client's process ends, and makes the pane wait for it.
/// Ownership: owns the process; destroying it closes the socket and kills what still runs. The thread that started it
///   must live as long as it is wanted.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace relay::tmux {

class Subprocess {
 public:
  /// `program` is a path. One that cannot be executed shows as a conversation that ends at once.
  static Result<Subprocess> start(const std::string& program, const std::vector<std::string>& argv,
                                  const std::vector<std::string>& environment);
  ~Subprocess();
  Subprocess(Subprocess&& other) noexcept : pid_{std::exchange(other.pid_, -1)}, socket_{std::move(other.socket_)} {}
  Subprocess& operator=(Subprocess&&) = delete;

  [[nodiscard]] int fd() const { return socket_.get(); }

  /// All it says until it closes its end, for those who say little.
  Result<std::string> read_all(std::size_t max_bytes, SteadyTime deadline);

 private:
  Subprocess(pid_t pid, UniqueFd socket) : pid_{pid}, socket_{std::move(socket)} {}

  pid_t pid_;
  UniqueFd socket_;
};

}  // namespace relay::tmux
