// Topics: SUBSCRIBE, UNSUBSCRIBE, TOPICS.
#include "base/format.h"
#include "broker/channels.h"
#include "protocol/description_limits.h"

namespace relay::broker {

using protocol::ErrorCode;
using protocol::MessageType;
using protocol::NackCode;

namespace {

Rejection no_session(const AgentState& agent) {
  return {NackCode::BadRequest,
          format("{} has no session, and a subscription belongs to one; a channel also reaches offline agents: "
                 "agent-relay channels join",
                 agent.name().value())};
}

}  // namespace

std::optional<Rejection> Channels::set_subscription(AgentState& agent, const std::string& topic, bool subscribe) {
  if (subscribe == Audiences::is_subscribed(agent, topic)) return std::nullopt;
  if (subscribe) {
    if (!agent.session || agent.session->ended != 0) return no_session(agent);
    if (Audiences::topic_count(agent) >= protocol::kMaxTopicsPerSession)
      return Rejection{NackCode::BadRequest, format("at most {} topics per session; unsubscribe from one first",
                                                    protocol::kMaxTopicsPerSession)};
    audiences_.subscribe(agent, topic);
    commits_.save_eventually(records::AddSubscription{agent.session->id, topic});
  } else {
    audiences_.unsubscribe(agent, topic);
    commits_.save_eventually(records::RemoveSubscription{agent.session->id, topic});
  }
  return std::nullopt;
}

void Channels::on_subscription(ConnectionState& connection, const protocol::Envelope& envelope, bool subscribe) {
  AgentState* agent = connection.query_only ? nullptr : agents_.find(connection.agent->value());
  if (agent == nullptr) return;
  const std::string topic{envelope.topic};
  if (topic.empty())
    return connections_.send_error(connection, ErrorCode::BadRequest, "SUBSCRIBE and UNSUBSCRIBE need a 'topic'");
  if (const auto rejected = set_subscription(*agent, topic, subscribe))
    connections_.send_error(connection, ErrorCode::BadRequest, rejected->message);
}

void Channels::list_topics(text::JsonWriter& out, const protocol::TopicsRequest& request) const {
  out.begin_array("topics");
  const auto add = [&](const std::string& topic, const Audiences::Names& subscribers) {
    if (!request.agent.empty() && !subscribers.contains(AgentName{request.agent})) return;
    out.begin_element().field("name", topic).begin_array("subscribers");
    for (const AgentName& name : subscribers) {
      if (out.size() > protocol::kMaxResponseBytes) break;
      out.element(name.value());
    }
    out.end().end();
  };
  if (!request.topic.empty()) {
    if (const auto* subscribers = audiences_.subscribers(request.topic)) add(request.topic, *subscribers);
  } else {
    for (const auto& [topic, subscribers] : audiences_.topics()) {
      if (out.size() > protocol::kMaxResponseBytes) break;
      add(topic, subscribers);
    }
  }
  out.end();
}

std::optional<Rejection> Channels::change_topics(const ConnectionState& connection,
                                                 const protocol::TopicsRequest& request) {
  const std::string& name = request.agent.empty() ? connection.agent->value() : request.agent;
  AgentState* agent = agents_.find(name);
  if (!connection.query_only && name != connection.agent->value())
    return Rejection{NackCode::NotOwner, "a session can change its own subscriptions only"};
  if (auto refused =
          is_same_agent(connection, name) ? std::nullopt : require_user(connection, "change topics of other agents"))
    return refused;
  if (agent == nullptr) return Rejection{NackCode::UnknownRecipient, agents_.unknown_reason(name)};
  if (!agent->session || agent->removing) return no_session(*agent);
  return set_subscription(*agent, request.topic, request.action == protocol::TopicsRequest::Action::Subscribe);
}

void Channels::on_topics(ConnectionState& connection, const protocol::Envelope& envelope) {
  const auto request = protocol::parse_topics(envelope.payload);
  if (!request) return connections_.send_error(connection, ErrorCode::BadRequest, request.error().message());
  text::JsonWriter payload;
  const bool changes = request->action != protocol::TopicsRequest::Action::List;
  const auto rejected = changes ? change_topics(connection, *request) : std::nullopt;
  payload.field("success", !rejected);
  if (rejected) payload.field("code", name_of(rejected->code)).field("error", rejected->message);
  if (!rejected) list_topics(payload, *request);
  connections_.respond(connection, MessageType::TopicsResponse, envelope.id, payload.take());
}

}  // namespace relay::broker
