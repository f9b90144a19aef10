/// HELLO as a client says it.
#pragma once

#include <string>

#include "protocol/hello.h"

namespace relay::client {

/// The payload; empty texts are left out.
std::string write_hello(const protocol::Hello& hello);

}  // namespace relay::client
