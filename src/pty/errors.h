/// Errors of starting a child or opening a terminal that callers distinguish.
#pragma once

#include <cstdint>
#include <string_view>

namespace relay::pty {

enum class Errc : std::uint8_t {
  CommandNotFound = 1,  // a shell returns 127
  CannotExecute,        // it exists but does not start; a shell returns 126
  BadDirectory,         // the working directory cannot be entered
  NotATerminal,         // this process was not started at a terminal
};

std::string_view describe(Errc code);

}  // namespace relay::pty
