/// Reports of sessions about themselves: the state and the events of the agent.
///
/// Events have outbox numbers of their own, so that each is stored once.
/// Threading: the broker's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "broker/commit_budget.h"
#include "broker/deliveries.h"
#include "broker/event_recorder.h"
#include "broker/prompts.h"
#include "broker/send_replies.h"
#include "broker/unsupported_lanes.h"
#include "protocol/ended_session.h"

namespace relay::broker {

class AgentEvents {
 public:
  AgentEvents(Context& context, CommitPipeline& commits, CommitBudget& budget, Connections& connections, Agents& agents,
              EventRecorder& event_recorder, SendReplies& replies, Deliveries& deliveries,
              UnsupportedLanes& unsupported, Prompts& prompts)
      : context_{context},
        commits_{commits},
        budget_{budget},
        connections_{connections},
        agents_{agents},
        event_recorder_{event_recorder},
        replies_{replies},
        deliveries_{deliveries},
        unsupported_{unsupported},
        prompts_{prompts} {}

  void on_session_state(ConnectionState& connection, const protocol::Envelope& envelope);
  void on_agent_event(ConnectionState& connection, const protocol::Envelope& envelope);
  /// A new session: nothing is reported yet.
  static void reset_activity(AgentState& agent) { agent.activity.write() = {}; }
  /// A resumed session; empty: its state is unchanged. The reason belonged to an earlier report.
  void resume_activity(AgentState& agent, const std::string& state);
  /// Events that the host of an ended session could not send. Each event is stored once.
  void accept_unsent(AgentState& agent, const std::vector<protocol::EndedSession::UnackedEvent>& events);

 private:
  /// Closed: the agent has ended, so its prompts are not opened.
  enum class PromptMode : std::uint8_t { Open, Closed };
  Result<void> accept(AgentState& agent, const protocol::Envelope& envelope, PromptMode mode = PromptMode::Open);
  void on_repeated(ConnectionState& connection, AgentState& agent, const protocol::Envelope& envelope);
  void charge(ConnectionState& connection, const protocol::Envelope& envelope);
  void answer_when_saved(ConnectionState& connection, std::string_view id, Occurrence occurrence, std::string refusal);
  void count_work(const events::Event& event, const SessionId& session);
  [[nodiscard]] records::UsageRow usage_of(const events::TokensUsed& tokens, const AgentState& agent,
                                           std::string_view id) const;

  Context& context_;
  CommitPipeline& commits_;
  CommitBudget& budget_;
  Connections& connections_;
  Agents& agents_;
  EventRecorder& event_recorder_;
  SendReplies& replies_;
  Deliveries& deliveries_;
  UnsupportedLanes& unsupported_;
  Prompts& prompts_;
};

}  // namespace relay::broker
