/// SPAWN, and the approval of SPAWNs by agents. docs/security.md gives the reasons.
/// Threading: the broker's.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "broker/prompts.h"
#include "broker/spawn_policy.h"
#include "broker/workers.h"

namespace relay::broker {

class SpawnApprovals final : public SpawnPrompts {
 public:
  SpawnApprovals(Context& context, Connections& connections, Agents& agents, EventRecorder& event_recorder,
                 Prompts& prompts, Workers& workers)
      : context_{context},
        connections_{connections},
        agents_{agents},
        event_recorder_{event_recorder},
        prompts_{prompts},
        workers_{workers} {}

  /// Which agents other agents may start. Before the first call: none.
  void use_policy(std::shared_ptr<const SpawnPolicy> policy) { policy_ = std::move(policy); }

  void on_spawn(ConnectionState& connection, const protocol::Envelope& envelope);
  /// The connection has closed: the prompts for its SPAWNs are withdrawn.
  void on_disconnected(ConnectionId connection);

  void on_decided(AgentState& asker, OpenPrompt& prompt, const PromptAnswer& answer, const std::string& by,
                  std::optional<ClientRequest> approver) override;
  void on_not_opened(const std::string& prompt) override;

 private:
  /// A SPAWN that the user has not decided yet.
  struct PendingApproval {
    ConnectionId connection;
    AgentName asker;
    std::string request_id;   // of the SPAWN
    std::string claim_token;  // from the same frame
    protocol::SpawnRequest wanted;
  };
  [[nodiscard]] static bool is_spawn_by_agent(const ConnectionState& connection);
  [[nodiscard]] AgentState* spawning_agent(const ConnectionState& connection, const protocol::SpawnRequest& wanted);
  void prompt_user(AgentState& asker, ConnectionState& connection, const protocol::Envelope& envelope,
                   protocol::SpawnRequest wanted);

  Context& context_;
  Connections& connections_;
  Agents& agents_;
  EventRecorder& event_recorder_;
  Prompts& prompts_;
  Workers& workers_;
  std::shared_ptr<const SpawnPolicy> policy_ = std::make_shared<const SpawnPolicy>();
  std::map<std::string, PendingApproval> pending_;  // by prompt
  std::uint64_t last_prompt_ = 0;
};

}  // namespace relay::broker
