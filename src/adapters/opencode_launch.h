/// How OpenCode is started so that its own server can be reached: a port of ours, a password of ours, for this run only.
///
/// Measured on 1.18.33: the program in the terminal serves HTTP at `--port`; with OPENCODE_SERVER_PASSWORD set every
/// request needs it, and the program itself knows it from the same variable. When the port is taken the program hangs
/// before it draws anything, so the port is one that only a person could have chosen.
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
  net::HttpEndpoint place = {};
  std::string session = {};  // `--session`: the one that is on screen from the start
  bool continues = false;    // `--continue`: the newest one is
  std::string agent = {};    // `--agent`, `--model`: what a first message should run with
  std::string model = {};
};

/// Adds to the command what opens the server, or says why it is left as it is. What the person chose (a port, a
/// password) stays.
Result<OpenCodeLaunch> open_server(pty::Command& command, Random& random);

}  // namespace relay::adapters
