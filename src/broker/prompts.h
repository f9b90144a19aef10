/// Prompts of agents: open until they are resolved, decided by rules or the user, answered once through the agent's
/// host.
///
/// Invariant: a prompt is opened, decided and answered only after the event that reports it is stored.
/// Threading: the broker's.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "broker/agent_removal.h"
#include "broker/client_requests.h"
#include "broker/event_recorder.h"
#include "broker/host_requests.h"
#include "permissions/policy.h"
#include "protocol/prompt_requests.h"

namespace relay::broker {

enum class Occurrence : std::uint8_t { First, Repeated };

/// Handles the prompts of the broker itself: an agent requests to start another.
class SpawnPrompts {
 public:
  virtual ~SpawnPrompts() = default;
  /// `approver` is the ANSWER that decided; none: a rule or the timeout did.
  virtual void on_decided(AgentState& asker, OpenPrompt& prompt, const PromptAnswer& answer, const std::string& by,
                          std::optional<ClientRequest> approver) = 0;
  /// The prompt was not opened.
  virtual void on_not_opened(const std::string& prompt) = 0;
};

class Prompts final : public NameHolder {
 public:
  Prompts(Context& context, CommitPipeline& commits, Connections& connections, Agents& agents,
          EventRecorder& event_recorder, ClientRequests& requests, HostRequests& hosts, SpawnPrompts& spawns)
      : context_{context},
        commits_{commits},
        connections_{connections},
        agents_{agents},
        event_recorder_{event_recorder},
        requests_{requests},
        hosts_{hosts},
        spawns_{spawns} {}

  /// The rules for permissions, from the next prompt on.
  void use_policy(std::shared_ptr<const permissions::Policy> policy) { policy_ = std::move(policy); }

  void on_prompts(ConnectionState& connection, const protocol::Envelope& envelope);
  void on_answer(ConnectionState& connection, const protocol::Envelope& envelope);
  /// Sends the result of an ANSWER.
  void respond(const ClientRequest& request, const std::optional<Rejection>& rejected);

  /// The agent's session reports a prompt. It is logged once per session, even if it is reported several times.
  void open(AgentState& agent, OpenPrompt prompt, Occurrence occurrence);
  void end_when_saved(AgentState& agent, std::string prompt);
  /// The program behind the prompt has disconnected: the prompt is withdrawn if it is still open.
  void withdraw_abandoned(AgentState& agent, std::string_view prompt);
  /// The session ends.
  void end_all(AgentState& agent);
  void on_due(AgentState& agent, SteadyTime due);

  [[nodiscard]] bool is_using(const AgentState& agent) const override { return !agent.prompts->table.all().empty(); }
  void on_removing(AgentState& agent) override { end_all(agent); }

 private:
  // prompts.cc
  void open_saved(const AgentName& name, const SessionId& session, OpenPrompt prompt, Occurrence occurrence);
  void withdraw(const OpenPrompt& prompt, const AgentName& agent, const SessionId& session, std::string_view reason);
  void apply_rule(AgentState& agent, OpenPrompt& prompt);
  void arm_expiry(AgentState& agent, const OpenPrompt& prompt);
  void answer(AgentState& agent, OpenPrompt& prompt, PromptAnswer answer, std::string by,
              std::optional<ClientRequest> request = {});
  void on_answered(const AgentName& name, const std::string& prompt, const std::string& by,
                   const std::optional<ClientRequest>& request, const Result<void>& outcome);
  void notify_user(const AgentState& agent, OpenPrompt& prompt);
  // prompt_requests.cc
  [[nodiscard]] std::optional<Rejection> check_answer(const ConnectionState& connection,
                                                      const protocol::AnswerRequest& answer);
  void send_answer_result(ConnectionState& connection, std::string_view request_id,
                          const std::optional<Rejection>& rejected);

  Context& context_;
  CommitPipeline& commits_;
  Connections& connections_;
  Agents& agents_;
  EventRecorder& event_recorder_;
  ClientRequests& requests_;
  HostRequests& hosts_;
  SpawnPrompts& spawns_;
  std::shared_ptr<const permissions::Policy> policy_ = std::make_shared<const permissions::Policy>();
};

/// Evaluates the rules for a permission of the agent. If the agent has left the directory that it was started in, the
/// rules must agree for both directories.
permissions::Decision evaluate_rules(const permissions::Policy& policy, const AgentState& agent,
                                     const events::PermissionRequested& permission);

}  // namespace relay::broker
