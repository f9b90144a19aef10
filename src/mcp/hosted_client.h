/// The RelayClient of an agent that runs under a host: it reads the inbox through the host socket and sends to the
/// daemon in the agent's name.
///
/// Invariants: it acts for the agent whose environment it was started in, and presents the claim token that the host
///   stores for tools inside the agent. The host never types a message that was taken here. Nothing is spooled: while
///   the daemon is offline a send fails with the reason, and an idempotency key makes it safe to send again. The daemon
///   identifies a message by its key and its text, so the same key with another text is never acknowledged as the first
///   message.
/// Ownership: borrows loop, network and random. Threading: loop thread only.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>

#include "base/random.h"
#include "client/daemon_call.h"
#include "mcp/host_connection.h"
#include "mcp/relay_client.h"

namespace relay::mcp {

struct HostedClientOptions {
  std::string name;
  std::string host_socket;                         // $AGENT_RELAY_HOST_SOCKET
  std::string socket_path;                         // the workspace's
  std::function<std::string()> claim_token;        // read each time: the host may create it later
  std::function<std::string()> system_token = {};  // of the relay home; read each time, the daemon may create it later
};

class HostedClient final : public RelayClient {
 public:
  HostedClient(net::EventLoop& loop, net::Network& network, Random& random, HostedClientOptions options);

  void start(RelayClientListener& listener) override;
  [[nodiscard]] ClientStatus status() const override { return {options_.name, "hosted", 0}; }
  void send(protocol::OutgoingSend message, OnSent on_sent) override;
  void inbox(InboxQuery query, OnInbox on_inbox) override;
  void request(protocol::MessageType type, std::string payload, Millis timeout, OnReply on_reply) override;

 private:
  void run(client::DaemonRequest request, client::DaemonCall::OnResponse on_response);
  void bind_key(const std::string& key, std::string fingerprint);
  void free_key(const std::string& key);

  net::EventLoop& loop_;
  net::Network& network_;
  Random& random_;
  HostedClientOptions options_;
  RelayClientListener* listener_ = nullptr;
  std::map<std::uint64_t, std::unique_ptr<client::DaemonCall>> calls_;
  std::uint64_t last_call_ = 0;
  std::map<std::string, std::string> fingerprints_;  // by idempotency key, of sends that were not refused
  std::deque<std::string> keys_;                     // oldest first
  HostConnection host_;
};

/// The host's response to `fetch`. Missing members are empty.
InboxPage parse_inbox_page(const json::object& answer);

}  // namespace relay::mcp
