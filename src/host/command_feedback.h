/// Reports outcomes of the agent's relay commands: stored messages to clients, failures to the agent.
///
/// Ownership: borrows loop, server, pipeline and updater, which outlive it. Threading: loop thread only.
#pragma once

#include <string>
#include <string_view>

#include "host/command_executor.h"
#include "net/event_loop.h"

namespace relay::host {

class AgentUpdater;
class DeliveryPipeline;
class HostServer;

class CommandFeedback final : public CommandExecutorListener {
 public:
  /// `is_typed_into`: failures are typed to the agent, otherwise written into its inbox file.
  CommandFeedback(net::EventLoop& loop, std::string agent, bool is_typed_into, HostServer& server,
                  DeliveryPipeline& pipeline, AgentUpdater& updater)
      : loop_{loop},
        agent_{std::move(agent)},
        is_typed_into_{is_typed_into},
        server_{server},
        pipeline_{pipeline},
        updater_{updater} {}

  void on_command_sent(std::string_view to, std::string_view kind) override;
  void on_command_failed(std::string_view why) override;

 private:
  net::EventLoop& loop_;
  std::string agent_;
  bool is_typed_into_;
  HostServer& server_;
  DeliveryPipeline& pipeline_;
  AgentUpdater& updater_;
};

}  // namespace relay::host
