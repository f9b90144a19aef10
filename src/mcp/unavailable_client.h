/// A RelayClient without a relay: every call fails with the same reason.
///
/// Why the server does not exit instead: a client marks an exited server as broken and hides its output; a tool result
///   reaches the model, which can inform its user.
#pragma once

#include <string>
#include <utility>

#include "mcp/relay_client.h"

namespace relay::mcp {

class UnavailableClient final : public RelayClient {
 public:
  UnavailableClient(std::string name, std::string why) : name_{std::move(name)}, why_{std::move(why)} {}

  void start(RelayClientListener&) override {}
  [[nodiscard]] ClientStatus status() const override { return {name_, "none", 0}; }
  void send(protocol::OutgoingSend, OnSent on_sent) override { on_sent(fail(why_)); }
  void inbox(InboxQuery, OnInbox on_inbox) override { on_inbox(fail(why_)); }
  void request(protocol::MessageType, std::string, Millis, OnReply on_reply) override { on_reply(fail(why_)); }

 private:
  std::string name_, why_;
};

}  // namespace relay::mcp
