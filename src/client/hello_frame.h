/// Writes the payload of HELLO.
#pragma once

#include <string>

#include "protocol/hello.h"

namespace relay::client {

/// Empty strings are left out.
std::string write_hello(const protocol::Hello& hello);

}  // namespace relay::client
