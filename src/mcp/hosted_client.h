/// Inside an agent that runs under a host: its mail is asked of the host, its words go to the daemon in its name.
///
/// Invariants: it speaks for the agent whose environment it was started in, and shows the claim token that its host keeps
///   for tools inside it. A letter that was taken here is never typed by the host. Nothing is kept here: while the daemon
///   is away a message is answered with a sentence, and a key makes it safe to say it again. The daemon knows a message by
///   its key and its text, so a key that comes back with another text is never answered as if that had been sent.
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
  std::string door;                                // $AGENT_RELAY_HOST_SOCKET
  std::string socket_path;                         // the workspace's
  std::function<std::string()> claim_token;        // asked for each time: a host may make it after we start
  std::function<std::string()> system_token = {};  // of the home; read each time, the daemon may make it later
};

class HostedClient final : public RelayClient {
 public:
  HostedClient(net::EventLoop& loop, net::Network& network, Random& random, HostedClientOptions options);

  void start(RelayClientListener& listener) override;
  [[nodiscard]] ClientStatus standing() const override { return {options_.name, "wrapped agent", 0}; }
  void send(protocol::OutgoingSend message, OnSent on_sent) override;
  void inbox(InboxQuery wish, OnMail on_mail) override;
  void ask(protocol::MessageType type, std::string payload, Millis timeout, OnReply on_reply) override;

 private:
  void run(client::DaemonRequest request, client::DaemonCall::OnResponse on_response);
  void bind_key(const std::string& key, std::string print);
  void free_key(const std::string& key);

  net::EventLoop& loop_;
  net::Network& network_;
  Random& random_;
  HostedClientOptions options_;
  RelayClientListener* listener_ = nullptr;
  std::map<std::uint64_t, std::unique_ptr<client::DaemonCall>> calls_;
  std::uint64_t last_call_ = 0;
  std::map<std::string, std::string> prints_;  // of what was said under a key, and not refused
  std::deque<std::string> keys_;               // oldest first
  HostConnection door_;
};

/// The host's answer to `mail`. Members that are missing are empty.
InboxPage mail_from(const json::object& answer);

}  // namespace relay::mcp
