/// What the agent's native interfaces report, passed to the parts of the host that act on it.
///
/// Ownership: borrows its parts, which outlive it. Threading: loop thread only.
#pragma once

#include "base/lifetime.h"
#include "host/adapter_bridge.h"
#include "net/event_loop.h"

namespace relay::host {

class AgentCommands;
class AgentState;
class AgentUpdater;
class DaemonSession;
class DeliveryPipeline;
class HostServer;
class SessionEnd;

class AdapterEvents final : public AdapterBridgeListener {
 public:
  struct Parts {
    AdapterBridge& adapter;
    AgentCommands& commands;
    AgentState& state;
    AgentUpdater& updater;
    DaemonSession& session;
    DeliveryPipeline& pipeline;
    HostServer& server;
    SessionEnd& end;
  };
  AdapterEvents(net::EventLoop& loop, Parts parts) : loop_{loop}, parts_{parts} {}

  void on_assistant_text(std::string_view markdown) override;
  void on_model_input(std::string_view text, std::string_view via, std::string_view id) override;
  void on_returned(const std::vector<std::string>& deliveries, std::string_view reason) override;
  void on_changed() override;
  void on_client_event(const std::string& event) override;
  void on_agent_event(events::Event event, WallMs at) override;
  std::string take_pending(protocol::DeliveryMode mode, std::size_t max_bytes) override;

 private:
  net::EventLoop& loop_;
  Parts parts_;
  Lifetime lifetime_;
};

}  // namespace relay::host
