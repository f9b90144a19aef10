/// How a child ended.
#pragma once

#include <cstdint>
#include <string>

namespace relay::pty {

struct ExitStatus {
  enum class Kind : std::uint8_t {
    Exited,     // by itself, with `value` as its code
    Signalled,  // by the signal `value`
    Lost,       // even SIGKILL did not end it in time, or somebody else reaped it
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
