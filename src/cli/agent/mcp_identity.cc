#include "cli/agent/mcp_identity.h"

#include <unistd.h>

#include "base/format.h"
#include "cli/agent/host_setup.h"
#include "cli/framework/output.h"
#include "config/system_token.h"
#include "host/control/host_record.h"
#include "mcp/hosted_client.h"
#include "mcp/unavailable_client.h"
#include "protocol/names.h"
#include "pty/process_table.h"

namespace relay::cli {
namespace {

constexpr int kMaxAncestors = 64;

struct EnclosingAgent {
  std::string name, socket;
};

/// The agent that this process runs inside: by the environment if a host of this project matches (it may be of another
/// project, or of a host that has exited), else by the ancestor processes.
std::optional<EnclosingAgent> find_enclosing_agent(const Context& context) {
  const auto hosts = host::reachable_hosts(context.project.hosts);
  const auto name = context.environment("AGENT_RELAY_NAME"), socket = context.environment("AGENT_RELAY_HOST_SOCKET");
  for (const auto& host : hosts)
    if (name == host.name && socket == host.socket) return EnclosingAgent{host.name, host.socket};
  auto pid = hosts.empty() ? 0 : ::getppid();
  for (int i = 0; i < kMaxAncestors && pid > 1; ++i) {
    for (const auto& host : hosts)
      if (host.agent_pid == pid) return EnclosingAgent{host.name, host.socket};
    const auto process = pty::find_process(pid);
    if (!process) break;
    pid = process->parent;
  }
  return std::nullopt;
}

/// The claim token that the agent's host stores for tools inside it.
std::string token_of(const Context& context, const std::string& name) {
  Context inside = context;
  inside.environment = [name](std::string_view variable) -> std::optional<std::string> {
    if (variable == "AGENT_RELAY_NAME") return name;
    return std::nullopt;
  };
  return stored_claim_token(inside, name);
}

Result<void> join(McpIdentity& identity, const Context& context, const std::string& wanted, net::AsioLoop& loop,
                  net::Network& network) {
  RELAY_TRY(config::make_private_directory(context.project.outboxes));
  identity.name = wanted.empty() ? context.environment("AGENT_RELAY_NAME").value_or("") : wanted;
  if (identity.name.empty()) {
    identity.names = RELAY_TRY(DiskDirectory::open(context.project.outboxes));
    identity.slot = RELAY_TRY(mcp::take_name(*identity.names, [&] { return unused_name(context); }));
    identity.name = identity.slot.name;
  }
  if (const auto valid = protocol::check_agent_name(identity.name); !valid)
    return fail(relay::format("\"{}\" is not a valid name: {}; choose another with --name", identity.name,
                              valid.error().message()));
  identity.outbox = RELAY_TRY(open_named_outbox(context, identity.name));
  auto session = std::make_unique<mcp::StandaloneClient>(
      loop, network, identity.random, *identity.outbox.outbox,
      mcp::StandaloneClientOptions{.socket_path = config::socket_to_connect(context.project.socket),
                                   .name = identity.name,
                                   .claim_token = identity.outbox.claim_token,
                                   .project_root = context.project.root});
  identity.session = session.get();
  identity.client = std::move(session);
  return {};
}

}  // namespace

std::unique_ptr<McpIdentity> find_mcp_identity(const Context& context, const std::string& wanted, net::AsioLoop& loop,
                                               net::Network& network) {
  auto identity = std::make_unique<McpIdentity>();
  if (const auto agent = find_enclosing_agent(context)) {
    if (!wanted.empty() && wanted != agent->name)
      print_notice(relay::format("running inside {} and acting for it; --name {} is ignored", agent->name, wanted));
    identity->name = agent->name;
    identity->client = std::make_unique<mcp::HostedClient>(
        loop, network, identity->random,
        mcp::HostedClientOptions{.name = agent->name,
                                 .host_socket = agent->socket,
                                 .socket_path = config::socket_to_connect(context.project.socket),
                                 .claim_token = [&context, name = agent->name] { return token_of(context, name); },
                                 .system_token = [&context] { return config::read_system_token(context.home); }});
    return identity;
  }
  if (const auto joined = join(*identity, context, wanted, loop, network); !joined) {
    print_notice(joined.error().message());
    identity->client = std::make_unique<mcp::UnavailableClient>(identity->name, joined.error().message());
  }
  return identity;
}

}  // namespace relay::cli
