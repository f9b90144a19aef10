// Topics, channels and shadows: who else hears.
#include <algorithm>

#include "base/format.h"
#include "base/json.h"
#include "broker/core.h"
#include "protocol/description_limits.h"
#include "text/json_writer.h"

namespace relay::broker {

using protocol::ErrorCode;
using protocol::MessageType;
using protocol::NackCode;
using records::FrameKind;

namespace {

constexpr std::string_view kPrivateChannel = "dm:";
constexpr std::size_t kMaxMemberships = 200'000;  // in a whole workspace

/// Channels are compared without regard to case, as published daemons do.
std::string folded(std::string_view channel) {
  std::string text{channel};
  std::ranges::transform(text, text.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  return text;
}

}  // namespace

// ---------------------------------------------------------------- topics

std::optional<Core::Rejection> Core::set_subscription(AgentState& agent, const std::string& topic, bool subscribe) {
  auto& topics = agent.session->topics;
  const auto place = std::ranges::find(topics, topic);
  if (subscribe == (place != topics.end())) return std::nullopt;
  if (subscribe) {
    if (topics.size() >= protocol::kMaxTopicsPerSession)
      return Rejection{NackCode::BadRequest, format("at most {} topics per session; unsubscribe from one first",
                                                    protocol::kMaxTopicsPerSession)};
    topics.push_back(topic);
    topics_[topic].insert(agent.name());
    save_eventually(records::AddSubscription{agent.session->id, topic});
  } else {
    topics.erase(place);
    topics_[topic].erase(agent.name());
    if (topics_[topic].empty()) topics_.erase(topic);
    save_eventually(records::RemoveSubscription{agent.session->id, topic});
  }
  return std::nullopt;
}

void Core::on_subscribe(ConnectionState& connection, const protocol::Envelope& envelope, bool subscribe) {
  AgentState* agent = connection.query_only ? nullptr : find_agent(connection.agent.value());
  if (agent == nullptr) return;
  const std::string topic{envelope.topic};
  if (topic.empty()) return error(connection, ErrorCode::BadRequest, "SUBSCRIBE and UNSUBSCRIBE need a 'topic'");
  if (const auto objection = set_subscription(*agent, topic, subscribe))
    error(connection, ErrorCode::BadRequest, objection->sentence);
}

void Core::list_topics(text::JsonWriter& out, const protocol::TopicsRequest& wanted) const {
  out.begin_array("topics");
  const auto add = [&](const std::string& topic, const std::set<AgentName>& subscribers) {
    if (!wanted.agent.empty() && !subscribers.contains(AgentName{wanted.agent})) return;
    out.begin_element().field("name", topic).begin_array("subscribers");
    for (const AgentName& name : subscribers) {
      if (out.size() > protocol::kMaxResponseBytes) break;
      out.element(name.value());
    }
    out.end().end();
  };
  if (!wanted.topic.empty()) {
    if (const auto place = topics_.find(wanted.topic); place != topics_.end()) add(place->first, place->second);
  } else {
    for (const auto& [topic, subscribers] : topics_) {
      if (out.size() > protocol::kMaxResponseBytes) break;
      add(topic, subscribers);
    }
  }
  out.end();
}

void Core::on_topics(ConnectionState& connection, const protocol::Envelope& envelope) {
  using Wanted = protocol::TopicsRequest::Action;
  const auto wanted = protocol::parse_topics(envelope.payload);
  if (!wanted) return error(connection, ErrorCode::BadRequest, wanted.error().message());
  text::JsonWriter payload;
  std::optional<Rejection> objection;
  if (wanted->action != Wanted::List) {
    const std::string& name = wanted->agent.empty() ? connection.agent.value() : wanted->agent;
    AgentState* agent = find_agent(name);
    if (!connection.query_only && name != connection.agent.value())
      objection = Rejection{NackCode::NotOwner, "a session changes its own subscriptions only"};
    else if (auto refused = is_same_agent(connection, name) ? std::nullopt
                                                            : require_user(connection, "change topics of other agents"))
      objection = std::move(refused);
    else if (agent == nullptr)
      objection = Rejection{NackCode::UnknownRecipient, unknown_recipient(name)};
    else if (!agent->session || agent->removing)
      objection = Rejection{NackCode::BadRequest,
                            format("{} has no session, and a subscription belongs to one; what reaches also those who "
                                   "are away is a channel: agent-relay channels join",
                                   name)};
    else
      objection = set_subscription(*agent, wanted->topic, wanted->action == Wanted::Subscribe);
  }
  payload.field("success", !objection);
  if (objection) payload.field("code", name_of(objection->refusal)).field("error", objection->sentence);
  if (!objection) list_topics(payload, *wanted);
  respond(connection, MessageType::TopicsResponse, envelope.id, payload.take());
}

void Core::save_session(AgentState& agent) { save_eventually(records::PutSession{*agent.session}); }

void Core::index_session(const AgentState& agent) {
  for (const auto& topic : agent.session->topics) topics_[topic].insert(agent.name());
  for (const auto& binding : agent.session->shadows) shadows_[binding.primary].insert(agent.name());
}

void Core::unindex_session(const AgentState& agent) {
  const auto leave = [&](auto& groups, const auto& group) {
    const auto place = groups.find(group);
    if (place == groups.end()) return;
    place->second.erase(agent.name());
    if (place->second.empty()) groups.erase(place);
  };
  for (const auto& topic : agent.session->topics) leave(topics_, topic);
  for (const auto& binding : agent.session->shadows) leave(shadows_, binding.primary);
}

// ---------------------------------------------------------------- channels

bool Core::join_channel(const std::string& channel, const AgentName& member) {
  const bool joined = channels_[folded(channel)].insert(member).second;
  if (joined) ++membership_count_;
  return joined;
}

bool Core::leave_channel(const std::string& channel, const AgentName& member) {
  const auto place = channels_.find(folded(channel));
  if (place == channels_.end() || place->second.erase(member) == 0) return false;
  --membership_count_;
  if (place->second.empty()) channels_.erase(place);
  return true;
}

std::vector<AgentName> Core::channel_members(const std::string& channel) const {
  if (channel.starts_with(kPrivateChannel)) {
    // dm:alice:bob is its two names; nobody needs to join.
    std::vector<AgentName> members;
    const std::string wanted = folded(channel.substr(kPrivateChannel.size()));
    for (const auto& [name, agent] : agents_) {
      const std::string own = folded(name);
      if (wanted.starts_with(own + ":") || wanted.ends_with(":" + own)) members.push_back(agent.name());
    }
    std::ranges::sort(members);
    return members;
  }
  const auto place = channels_.find(folded(channel));
  if (place == channels_.end()) return {};
  return {place->second.begin(), place->second.end()};
}

std::optional<Core::Rejection> Core::check_join(const AgentName& member) {
  if (membership_count_ >= kMaxMemberships)
    return Rejection{NackCode::Busy, format("{} memberships exist already; leave a channel first", membership_count_)};
  const auto joined =
      std::ranges::count_if(channels_, [&](const auto& channel) { return channel.second.contains(member); });
  if (std::cmp_greater_equal(joined, protocol::kMaxChannelsPerAgent))
    return Rejection{NackCode::BadRequest,
                     format("{} is in {} channels already; leave one first", member.value(), joined)};
  if (find_agent(member.value()) == nullptr && !has_room_for_name())
    return Rejection{NackCode::Busy, format("{} agents are known already; remove one first", agents_.size())};
  return std::nullopt;
}

/// An agent joins and leaves channels itself; the user decides for others.
std::optional<Core::Rejection> Core::check_member(const ConnectionState& connection, const AgentName& member) {
  if (is_same_agent(connection, member.value())) return std::nullopt;
  return require_user(connection, "change channels of other agents");
}

void Core::on_channel_change(ConnectionState& connection, const protocol::Envelope& envelope, bool join) {
  const auto wanted = protocol::parse_channel_change(envelope.payload);
  if (!wanted) return error(connection, ErrorCode::BadRequest, wanted.error().message());
  const bool for_another = !wanted->member.empty();
  const AgentName member = for_another ? AgentName{wanted->member} : connection.agent;
  if (const auto refused = check_member(connection, member))
    return error(connection, ErrorCode::Unauthorized, refused->sentence);
  if (const auto objection = join ? check_join(member) : std::nullopt)
    return error(connection, objection->refusal == NackCode::Busy ? ErrorCode::Busy : ErrorCode::BadRequest,
                 objection->sentence);
  if (join && find_agent(member.value()) == nullptr)
    register_one_shot_sender(member.value());  // known from now on, so that what is said there waits for it
  const std::string channel = folded(wanted->channel);
  if (!(join ? join_channel(channel, member) : leave_channel(channel, member))) return;
  if (join)
    save_eventually(records::JoinChannel{{channel, member}});
  else
    save_eventually(records::LeaveChannel{{channel, member}});
  if (for_another) return;  // the administrative form is silent
  for (const AgentName& name : channel_members(channel)) {
    AgentState* other = name == member ? nullptr : find_agent(name.value());
    if (other == nullptr) continue;
    for (const ConnectionId id : other->connections) {
      ConnectionState* listener = find(id);
      if (listener != nullptr && listener->phase == Phase::Active) {
        send_new(*listener, join ? MessageType::ChannelJoin : MessageType::ChannelLeave, envelope.payload,
                 member.value());
      }
    }
  }
}

/// Who joined a channel hears it later when away. Everyone is in #general, so there only those who are here count.
bool Core::hears_channel(const AgentState& agent, std::string_view channel) const {
  if (agent.removing || agent.observed()) return false;
  return folded(channel) == protocol::kGeneralChannel ? in_audience(agent) : true;
}

void Core::on_channel_message(ConnectionState& connection, const protocol::Envelope& envelope,
                              std::size_t frame_bytes) {
  SendContext sending{connection,
                      envelope,
                      connection.query_only ? nullptr : find_agent(connection.agent.value()),
                      connection.agent,
                      frame_bytes,
                      {},
                      {},
                      {}};
  if (already_answered(sending)) return;
  const auto wanted = protocol::parse_channel_message(envelope.payload);
  if (!wanted) return refuse(sending, NackCode::BadRequest, wanted.error().message());
  auto view = protocol::parse_send(envelope.payload);
  if (!view) return refuse(sending, NackCode::BadRequest, view.error().message());
  auto meta = protocol::parse_send_meta(envelope.payload_meta);
  if (!meta) return refuse(sending, NackCode::BadRequest, meta.error().message());
  sending.view = std::move(*view);
  sending.meta = std::move(*meta);
  sending.meta.sync.reset();  // nobody in particular is asked
  if (!within_rate(sending) || !fits_a_frame(sending)) return;
  if (const auto late = too_late(sending); !late.empty()) return refuse(sending, NackCode::Expired, late);
  if (is_duplicate_key(sending)) return acknowledge_when_saved(sending);
  const auto members = channel_members(wanted->channel);
  if (!std::ranges::binary_search(members, connection.agent)) {
    return refuse(sending, NackCode::BadRequest, format("you are not a member of {}; join it first", wanted->channel));
  }
  std::vector<AgentState*> audience;
  for (const AgentName& name : members) {
    AgentState* agent = name == connection.agent ? nullptr : find_agent(name.value());
    if (agent != nullptr && hears_channel(*agent, wanted->channel)) audience.push_back(agent);
  }
  sending.to = wanted->channel;
  if (const auto objection = check_policy_and_loops(sending, audience))
    return refuse(sending, objection->refusal, objection->sentence);
  accept(sending, wanted->channel, audience, FrameKind::ChannelMessage);
}

void Core::on_membership_update(SendContext& sending) {
  const auto data = parse_json_object(sending.view.data.empty() ? "{}" : sending.view.data);
  const json::object* update = data ? object_member(*data, "_channelMembershipUpdate") : nullptr;
  const auto channel = update != nullptr ? string_member(*update, "channel") : std::nullopt;
  const auto member = update != nullptr ? string_member(*update, "member") : std::nullopt;
  const auto action = update != nullptr ? string_member(*update, "action") : std::nullopt;
  if (!channel || !member || !action || (*action != "join" && *action != "leave") ||
      !protocol::check_agent_name(*member)) {
    return refuse(sending, NackCode::BadRequest,
                  "a message to _router carries data._channelMembershipUpdate {channel, member, action: join|leave}");
  }
  if (const auto fine = protocol::check_channel_name(*channel); !fine)
    return refuse(sending, NackCode::BadRequest, fine.error().message());
  const AgentName name{*member};
  if (const auto refused = check_member(sending.connection, name))
    return refuse(sending, refused->refusal, refused->sentence);
  if (*action == "join") {
    if (const auto objection = check_join(name)) return refuse(sending, objection->refusal, objection->sentence);
    if (find_agent(name.value()) == nullptr) register_one_shot_sender(name.value());
  }
  if (*action == "join" && join_channel(*channel, name))
    save_eventually(records::JoinChannel{{folded(*channel), name}});
  if (*action == "leave" && leave_channel(*channel, name))
    save_eventually(records::LeaveChannel{{folded(*channel), name}});
  acknowledge_when_saved(sending);
}

// ---------------------------------------------------------------- shadows

void Core::on_shadow_bind(ConnectionState& connection, const protocol::Envelope& envelope) {
  AgentState* agent = connection.query_only ? nullptr : find_agent(connection.agent.value());
  const auto wanted = protocol::parse_shadow_bind(envelope.payload);
  if (agent == nullptr || !wanted) {
    return error(connection, ErrorCode::BadRequest,
                 wanted ? "the command line cannot be a shadow" : wanted.error().message());
  }
  if (wanted->primary == agent->name().value())
    return error(connection, ErrorCode::BadRequest, "nobody can be a shadow of itself");
  const AgentName primary{wanted->primary};
  auto& bindings = agent->session->shadows;
  std::erase_if(bindings, [&](const auto& binding) { return binding.primary == primary; });
  if (bindings.size() >= protocol::kMaxShadowsPerSession)
    return error(connection, ErrorCode::BadRequest,
                 format("at most {} shadow bindings per session; unbind one first", protocol::kMaxShadowsPerSession));
  bindings.push_back({primary, wanted->speak_on, wanted->receive_incoming, wanted->receive_outgoing});
  shadows_[primary].insert(agent->name());
  save_session(*agent);
}

void Core::on_shadow_unbind(ConnectionState& connection, const protocol::Envelope& envelope) {
  AgentState* agent = connection.query_only ? nullptr : find_agent(connection.agent.value());
  const auto wanted = protocol::parse_shadow_unbind(envelope.payload);
  if (agent == nullptr || !wanted) {
    return error(connection, ErrorCode::BadRequest,
                 wanted ? "the command line cannot be a shadow" : wanted.error().message());
  }
  unindex_session(*agent);
  std::erase_if(agent->session->shadows, [&](const auto& binding) { return binding.primary.value() == *wanted; });
  index_session(*agent);
  save_session(*agent);
}

void Core::trigger_shadows(const AgentName& primary, std::string_view trigger) {
  const auto place = shadows_.find(primary);
  if (place == shadows_.end()) return;
  const auto names = place->second;
  for (const AgentName& name : names) {
    AgentState* shadow = find_agent(name.value());
    if (shadow == nullptr || shadow->removing || !shadow->session) continue;
    for (const auto& binding : shadow->session->shadows) {
      if (binding.primary != primary || std::ranges::find(binding.speak_on, trigger) == binding.speak_on.end())
        continue;
      text::JsonWriter data;
      data.field("_shadowTrigger", trigger).field("_shadowOf", primary.value()).begin_object("_triggerContext").end();
      post(primary.value(), {shadow}, "action", format("SHADOW_TRIGGER:{}", trigger), data.take());
    }
  }
}

}  // namespace relay::broker
