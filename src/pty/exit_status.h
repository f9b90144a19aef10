/// How a child exited.
#pragma once

#include <cstdint>
#include <string>

namespace relay::pty {

struct ExitStatus {
  enum class Kind : std::uint8_t {
    Exited,     // normally, with `value` as its code
    Signalled,  // by the signal `value`
    Lost,       // SIGKILL had no effect in time, or another part of the program reaped it
  };

  Kind kind = Kind::Lost;
  int value = 0;

  static ExitStatus from_wait(int wait_status);

  /// As a shell reports it: the code, 128 + signal, or 255 when lost.
  [[nodiscard]] int shell_code() const;
  /// "exited with code 3", "ended by SIGTERM".
  [[nodiscard]] std::string describe() const;

  bool operator==(const ExitStatus&) const = default;
};

}  // namespace relay::pty
