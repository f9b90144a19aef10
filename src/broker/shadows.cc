// Shadows: SHADOW_BIND, SHADOW_UNBIND, triggers.
#include <algorithm>

#include "base/format.h"
#include "broker/channels.h"
#include "protocol/description_limits.h"
#include "text/json_writer.h"

namespace relay::broker {

using protocol::ErrorCode;

void Channels::on_shadow_bind(ConnectionState& connection, const protocol::Envelope& envelope) {
  AgentState* agent = connection.query_only ? nullptr : agents_.find(connection.agent->value());
  const auto wanted = protocol::parse_shadow_bind(envelope.payload);
  if (agent == nullptr || !wanted) {
    return connections_.send_error(connection, ErrorCode::BadRequest,
                                   wanted ? "the command line cannot be a shadow" : wanted.error().message());
  }
  if (wanted->primary == agent->name().value())
    return connections_.send_error(connection, ErrorCode::BadRequest, "an agent cannot be a shadow of itself");
  if (!audiences_.bind_shadow(
          *agent, {AgentName{wanted->primary}, wanted->speak_on, wanted->receive_incoming, wanted->receive_outgoing}))
    return connections_.send_error(
        connection, ErrorCode::BadRequest,
        format("at most {} shadow bindings per session; unbind one first", protocol::kMaxShadowsPerSession));
  commits_.save_eventually(records::PutSession{Audiences::session_row(*agent)});
}

void Channels::on_shadow_unbind(ConnectionState& connection, const protocol::Envelope& envelope) {
  AgentState* agent = connection.query_only ? nullptr : agents_.find(connection.agent->value());
  const auto wanted = protocol::parse_shadow_unbind(envelope.payload);
  if (agent == nullptr || !wanted) {
    return connections_.send_error(connection, ErrorCode::BadRequest,
                                   wanted ? "the command line cannot be a shadow" : wanted.error().message());
  }
  audiences_.unbind_shadow(*agent, AgentName{*wanted});
  commits_.save_eventually(records::PutSession{Audiences::session_row(*agent)});
}

void Channels::on_shadows(ConnectionState& connection, const protocol::Envelope& envelope) {
  text::JsonWriter payload;
  payload.begin_array("shadows");
  for (const auto& [name, agent] : agents_.all()) {
    for (const auto& binding : Audiences::bindings_of(agent)) {
      if (payload.size() > protocol::kMaxResponseBytes) break;
      payload.begin_element().field("agent", name).field("primary", binding.primary.value());
      payload.field("incoming", binding.incoming).field("outgoing", binding.outgoing).begin_array("speakOn");
      for (const auto& trigger : binding.speak_on) payload.element(trigger);
      payload.end().end();
    }
  }
  payload.end();
  connections_.respond(connection, protocol::MessageType::ShadowsResponse, envelope.id, payload.take());
}

void Channels::trigger_shadows(const AgentName& primary, std::string_view trigger) {
  const Audiences::Names* shadows = audiences_.shadows_of(primary);
  if (shadows == nullptr) return;
  const Audiences::Names names = *shadows;
  for (const AgentName& name : names) {
    AgentState* shadow = agents_.find(name.value());
    if (shadow == nullptr || shadow->removing || !shadow->session) continue;
    for (const auto& binding : Audiences::bindings_of(*shadow)) {
      if (binding.primary != primary || std::ranges::find(binding.speak_on, trigger) == binding.speak_on.end())
        continue;
      text::JsonWriter data;
      data.field("_shadowTrigger", trigger).field("_shadowOf", primary.value()).begin_object("_triggerContext").end();
      publisher_.post(primary.value(), {shadow}, "action", format("SHADOW_TRIGGER:{}", trigger), data.take());
    }
  }
}

}  // namespace relay::broker
