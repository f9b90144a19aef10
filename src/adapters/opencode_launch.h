/// Starts OpenCode with a reachable server: with a port and a password for this run only.
///
/// Measured on 1.18.33: the program in the terminal serves HTTP at `--port`; with OPENCODE_SERVER_PASSWORD set every
/// request needs it, and the program itself reads it from the same variable. When the port is in use the program hangs
/// before it draws anything, so the port is outside the range that the system assigns.
/// Secrets: the password is in the environment, which only the user can read; never in the arguments.
#pragma once

#include <string>
#include <string_view>

#include "base/random.h"
#include "base/result.h"
#include "net/http_client.h"
#include "pty/command.h"

namespace relay::adapters {

struct OpenCodeLaunch {
  net::HttpEndpoint endpoint = {};
  std::string session = {};  // `--session`: on screen from the start
  bool continues = false;    // `--continue`: the newest session is
  std::string agent = {};    // `--agent`, `--model`: for the first message
  std::string model = {};
};

/// Adds the server's options to the command; an error leaves it unchanged. The user's own port and password stay.
Result<OpenCodeLaunch> configure_server(pty::Command& command, Random& random);

}  // namespace relay::adapters
