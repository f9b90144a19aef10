/// Everything an agent's host needs, from what a person typed: name, profile, places, and the command it runs.
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
  std::string name;                // empty: a friendly one
  std::vector<std::string> words;  // the program and its arguments
  std::string profile;             // empty: by the program's name
  bool detached = false;
  bool spawned = false;
  bool instruct = true;
  pty::Streams streams = pty::Streams::Terminal;
  std::vector<int> kept_descriptors = {};  // beyond the standard three, for the program
  std::string spawner = {}, team = {}, model = {}, task = {};
};

/// Options and what they point to; outlives the host.
struct HostSetup {
  host::HostOptions options;
  pty::Command command;  // what the agent is run as
  NamedOutbox outbox;
  std::unique_ptr<DiskDirectory> inbox;
  std::optional<host::AgentFolder> folder;  // last: cleared before the outbox gives the name back
};

/// The user's own profiles, in the home.
std::vector<profiles::UserProfile> own_profiles(const config::Home& home);

/// A friendly name that nobody here has.
std::string unused_name(const Context& context);

/// `loop` is for the adapter and outlives it. The error is one for the user: an unknown profile, a name in use, a place that cannot be written.
Result<HostSetup> prepare_host(const Context& context, HostRequest wish, net::AsioLoop& loop);

}  // namespace relay::cli
