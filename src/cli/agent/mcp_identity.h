/// The agent that an MCP server acts for, and its connection to the relay. Decided once, by where the server was started,
/// never by a tool.
///
/// Inside a hosted agent it is that agent: the environment has the host socket of a running host of this project; where a
/// client passes no environment to its servers (Codex), the agent is found among the ancestor processes. Elsewhere it is
/// its own session, under the given name or one that is reserved for the servers of this project.
#pragma once

#include <memory>
#include <string>

#include "cli/framework/context.h"
#include "cli/wire/named_outbox.h"
#include "mcp/name_slot.h"
#include "mcp/relay_client.h"
#include "mcp/standalone_client.h"
#include "net/unix_network.h"

namespace relay::cli {

/// Owns what `client` borrows.
struct McpIdentity {
  std::string name;
  NamedOutbox outbox;
  std::unique_ptr<DiskDirectory> names;
  mcp::NameSlot slot;
  SystemRandom random;
  std::unique_ptr<mcp::RelayClient> client;
  mcp::StandaloneClient* session = nullptr;  // the client, when it has its own session
};

/// `wanted` is the value of --name; may be empty. Never fails: without a connection its client reports the error.
std::unique_ptr<McpIdentity> find_mcp_identity(const Context& context, const std::string& wanted, net::AsioLoop& loop,
                                               net::Network& network);

}  // namespace relay::cli
