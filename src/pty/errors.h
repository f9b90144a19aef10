/// What a caller may want to tell apart when a child or a terminal cannot be had.
#pragma once

#include <cstdint>
#include <string_view>

namespace relay::pty {

enum class Errc : std::uint8_t {
  CommandNotFound = 1,  // a shell would say 127
  CannotExecute,        // it is there, but does not start; a shell would say 126
  BadDirectory,         // the working directory cannot be entered
  NotATerminal,         // we were not started at one
};

std::string_view describe(Errc code);

}  // namespace relay::pty
