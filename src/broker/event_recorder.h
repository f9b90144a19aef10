/// Events that the broker itself records.
#pragma once

#include "broker/agent_state.h"
#include "broker/commit_pipeline.h"
#include "broker/context.h"
#include "events/event.h"

namespace relay::broker {

class EventRecorder {
 public:
  EventRecorder(Context& context, CommitPipeline& commits) : context_{context}, commits_{commits} {}

  [[nodiscard]] records::AddEvent row(const events::Event& event, const AgentName& agent,
                                      const SessionId& session) const;
  void record(const events::Event& event, const AgentName& agent, const SessionId& session) {
    commits_.save_eventually(row(event, agent, session));
  }
  void record(const events::Event& event, const AgentState& agent) {
    record(event, agent.name(), agent.session ? agent.session->id : SessionId{});
  }
  /// The state that a session reports, as an event.
  void record_activity(const AgentState& agent, const protocol::SessionStateChange& activity);

 private:
  Context& context_;
  CommitPipeline& commits_;
};

}  // namespace relay::broker
