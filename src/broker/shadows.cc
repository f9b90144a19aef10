// Shadows: SHADOW_BIND, SHADOW_UNBIND, triggers.
#include <algorithm>

#include "base/format.h"
#include "broker/channels.h"
#include "protocol/description_limits.h"
#include "text/json_writer.h"

namespace relay::broker {

using protocol::ErrorCode;

void Channels::on_shadow_bind(ConnectionState& connection, const protocol::Envelope& envelope) {
  AgentState* agent = connection.query_only ? nullptr : agents_.find(connection.agent.value());
  const auto wanted = protocol::parse_shadow_bind(envelope.payload);
  if (agent == nullptr || !wanted) {
    return connections_.send_error(connection, ErrorCode::BadRequest,
                                   wanted ? "the command line cannot be a shadow" : wanted.error().message());
  }
  if (wanted->primary == agent->name().value())
    return connections_.send_error(connection, ErrorCode::BadRequest, "nobody can be a shadow of itself");
  const AgentName primary{wanted->primary};
  auto& bindings = agent->session->shadows;
  std::erase_if(bindings, [&](const auto& binding) { return binding.primary == primary; });
  if (bindings.size() >= protocol::kMaxShadowsPerSession)
    return connections_.send_error(
        connection, ErrorCode::BadRequest,
        format("at most {} shadow bindings per session; unbind one first", protocol::kMaxShadowsPerSession));
  bindings.push_back({primary, wanted->speak_on, wanted->receive_incoming, wanted->receive_outgoing});
  audiences_.add_shadow(primary, agent->name());
  commits_.save_eventually(records::PutSession{*agent->session});
}

void Channels::on_shadow_unbind(ConnectionState& connection, const protocol::Envelope& envelope) {
  AgentState* agent = connection.query_only ? nullptr : agents_.find(connection.agent.value());
  const auto wanted = protocol::parse_shadow_unbind(envelope.payload);
  if (agent == nullptr || !wanted) {
    return connections_.send_error(connection, ErrorCode::BadRequest,
                                   wanted ? "the command line cannot be a shadow" : wanted.error().message());
  }
  audiences_.unindex_session(*agent);
  std::erase_if(agent->session->shadows, [&](const auto& binding) { return binding.primary.value() == *wanted; });
  audiences_.index_session(*agent);
  commits_.save_eventually(records::PutSession{*agent->session});
}

void Channels::trigger_shadows(const AgentName& primary, std::string_view trigger) {
  const Audiences::Names* shadows = audiences_.shadows_of(primary);
  if (shadows == nullptr) return;
  const Audiences::Names names = *shadows;
  for (const AgentName& name : names) {
    AgentState* shadow = agents_.find(name.value());
    if (shadow == nullptr || shadow->removing || !shadow->session) continue;
    for (const auto& binding : shadow->session->shadows) {
      if (binding.primary != primary || std::ranges::find(binding.speak_on, trigger) == binding.speak_on.end())
        continue;
      text::JsonWriter data;
      data.field("_shadowTrigger", trigger).field("_shadowOf", primary.value()).begin_object("_triggerContext").end();
      publisher_.post(primary.value(), {shadow}, "action", format("SHADOW_TRIGGER:{}", trigger), data.take());
    }
  }
}

}  // namespace relay::broker
