/// The relay when this program has no way to it: every question is answered with the reason.
///
/// Why not simply end: a client shows a server that ended as broken and hides its words; a tool's answer reaches the model,
///   which can tell its user.
#pragma once

#include <string>
#include <utility>

#include "mcp/relay_client.h"

namespace relay::mcp {

class UnavailableClient final : public RelayClient {
 public:
  UnavailableClient(std::string name, std::string why) : name_{std::move(name)}, why_{std::move(why)} {}

  void start(RelayClientListener&) override {}
  [[nodiscard]] ClientStatus standing() const override { return {name_, "none", 0}; }
  void send(protocol::OutgoingSend, OnSent on_sent) override { on_sent(fail(why_)); }
  void inbox(InboxQuery, OnMail on_mail) override { on_mail(fail(why_)); }
  void ask(protocol::MessageType, std::string, Millis, OnReply on_reply) override { on_reply(fail(why_)); }

 private:
  std::string name_, why_;
};

}  // namespace relay::mcp
