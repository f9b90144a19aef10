/// Whom an MCP server speaks for, and its way to the relay. Decided once, by where it was started; never by a tool.
///
/// Inside a wrapped agent it is that agent: the host's door stands in the environment and in the record of a living host of
/// this project, and where a client hands its servers no environment (Codex does not) the agent is found among our own
/// ancestors. Elsewhere it is a session of its own, under
/// the name that was given, or one that is kept for the servers of this project.
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

/// What the Post borrows outlives it.
struct McpIdentity {
  std::string name;
  NamedOutbox outbox;
  std::unique_ptr<DiskDirectory> names;
  mcp::NameSlot slot;
  SystemRandom random;
  std::unique_ptr<mcp::RelayClient> post;
  mcp::StandaloneClient* session = nullptr;  // the post, when it has a session of its own
};

/// `wanted`: what --name says; empty when it says nothing. Never fails: without a way to the relay its post says why.
std::unique_ptr<McpIdentity> find_mcp_identity(const Context& context, const std::string& wanted, net::AsioLoop& loop,
                                               net::Network& network);

}  // namespace relay::cli
