#include "broker/event_recorder.h"

#include "base/json.h"

namespace relay::broker {

records::AddEvent EventRecorder::row(const events::Event& event, const AgentName& agent,
                                     const SessionId& session) const {
  return {{std::string{events::type_of(event)}, context_.wall(), agent, session,
           json::serialize(events::members_of(event))}};
}

void EventRecorder::record_activity(const AgentState& agent, const protocol::SessionStateChange& activity) {
  record(events::AgentStatus{.state = activity.state.empty() ? "online" : activity.state,
                             .reason = activity.reason.empty() ? std::optional<std::string>{}
                                                               : std::optional{activity.reason}},
         agent);
}

}  // namespace relay::broker
