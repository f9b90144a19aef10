/// Prepares an agent's host from the command line: name, profile, paths and the command to run.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/framework/context.h"
#include "cli/wire/named_outbox.h"
#include "host/agent_folder.h"
#include "host/host.h"
#include "net/asio_loop.h"
#include "profiles/registry.h"

namespace relay::cli {

struct HostRequest {
  std::string name;               // empty: a generated one
  std::vector<std::string> argv;  // the program and its arguments
  std::string profile;            // empty: by the program's name
  bool detached = false;
  bool spawned = false;
  bool instruct = true;
  pty::Streams streams = pty::Streams::Terminal;
  std::vector<int> kept_descriptors = {};  // beyond the standard three, for the program
  std::string spawner = {}, team = {}, model = {}, task = {};
};

/// The options and the objects that they point to. Outlives the host.
struct HostSetup {
  host::HostOptions options;
  pty::Command command;  // runs the agent
  NamedOutbox outbox;
  std::unique_ptr<DiskDirectory> inbox;
  std::optional<host::AgentFolder> folder;  // last: cleared before the outbox frees the name
};

/// The user's own profiles, in the relay home.
std::vector<profiles::UserProfile> user_profiles(const config::Home& home);

/// A generated name that no agent here has.
std::string unused_name(const Context& context);

/// `loop` is for the adapter and outlives it. The error is one for the user: an unknown profile, a name in use, a place
/// that cannot be written.
Result<HostSetup> prepare_host(const Context& context, HostRequest request, net::AsioLoop& loop);

}  // namespace relay::cli
