#include "broker/audiences.h"

#include <algorithm>

#include "protocol/description_limits.h"

namespace relay::broker {
namespace {

constexpr std::string_view kPrivateChannel = "dm:";

template <class Groups, class Group>
void remove_from(Groups& groups, const Group& group, const AgentName& name) {
  const auto found = groups.find(group);
  if (found == groups.end()) return;
  found->second.erase(name);
  if (found->second.empty()) groups.erase(found);
}

template <class Groups, class Group>
const Audiences::Names* find_group(const Groups& groups, const Group& group) {
  const auto found = groups.find(group);
  return found == groups.end() ? nullptr : &found->second;
}

}  // namespace

std::string folded_channel(std::string_view channel) {
  std::string text{channel};
  std::ranges::transform(text, text.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  return text;
}

bool Audiences::join(const std::string& channel, const AgentName& member) {
  const bool joined = channels_[folded_channel(channel)].insert(member).second;
  if (joined) ++membership_count_;
  return joined;
}

bool Audiences::leave(const std::string& channel, const AgentName& member) {
  const auto found = channels_.find(folded_channel(channel));
  if (found == channels_.end() || found->second.erase(member) == 0) return false;
  --membership_count_;
  if (found->second.empty()) channels_.erase(found);
  return true;
}

void Audiences::leave_all(const AgentName& member) {
  for (auto place = channels_.begin(); place != channels_.end();) {
    membership_count_ -= place->second.erase(member);
    place = place->second.empty() ? channels_.erase(place) : std::next(place);
  }
}

std::vector<AgentName> Audiences::members(const std::string& channel) const {
  if (channel.starts_with(kPrivateChannel)) {
    // dm:alice:bob is its two names; no agent needs to join.
    std::vector<AgentName> members;
    const std::string wanted = folded_channel(channel.substr(kPrivateChannel.size()));
    for (const auto& [name, agent] : agents_.all()) {
      const std::string own = folded_channel(name);
      if (wanted.starts_with(own + ":") || wanted.ends_with(":" + own)) members.push_back(agent.name());
    }
    std::ranges::sort(members);
    return members;
  }
  const Names* names = find_group(channels_, folded_channel(channel));
  if (names == nullptr) return {};
  return {names->begin(), names->end()};
}

bool Audiences::receives_channel(const AgentState& agent, std::string_view channel) const {
  if (agent.removing || agent.observed()) return false;
  return folded_channel(channel) == protocol::kGeneralChannel ? agents_.in_audience(agent) : true;
}

std::size_t Audiences::channels_of(const AgentName& member) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(channels_, [&](const auto& channel) { return channel.second.contains(member); }));
}

bool Audiences::is_subscribed(const AgentState& agent, std::string_view topic) {
  return std::ranges::find(agent.audience->topics, topic) != agent.audience->topics.end();
}

void Audiences::subscribe(AgentState& agent, const std::string& topic) {
  agent.audience->topics.push_back(topic);
  topics_[topic].insert(agent.name());
}

void Audiences::unsubscribe(AgentState& agent, const std::string& topic) {
  std::erase(agent.audience->topics, topic);
  remove_from(topics_, topic, agent.name());
}

const Audiences::Names* Audiences::subscribers(const std::string& topic) const { return find_group(topics_, topic); }

const Audiences::Names* Audiences::shadows_of(const AgentName& primary) const { return find_group(shadows_, primary); }

bool Audiences::bind_shadow(AgentState& shadow, records::ShadowBinding binding) {
  auto& bindings = shadow.audience->shadows;
  std::erase_if(bindings, [&](const auto& other) { return other.primary == binding.primary; });
  if (bindings.size() >= protocol::kMaxShadowsPerSession) return false;
  shadows_[binding.primary].insert(shadow.name());
  bindings.push_back(std::move(binding));
  return true;
}

void Audiences::unbind_shadow(AgentState& shadow, const AgentName& primary) {
  std::erase_if(shadow.audience->shadows, [&](const auto& binding) { return binding.primary == primary; });
  remove_from(shadows_, primary, shadow.name());
}

void Audiences::open_session(AgentState& agent, SessionAudience audience) {
  close_session(agent);
  for (const auto& topic : audience.topics) topics_[topic].insert(agent.name());
  for (const auto& binding : audience.shadows) shadows_[binding.primary].insert(agent.name());
  *agent.audience = std::move(audience);
}

void Audiences::close_session(const AgentState& agent) {
  for (const auto& topic : agent.audience->topics) remove_from(topics_, topic, agent.name());
  for (const auto& binding : agent.audience->shadows) remove_from(shadows_, binding.primary, agent.name());
}

records::Session Audiences::session_row(const AgentState& agent) {
  records::Session row = **agent.session;
  row.topics = agent.audience->topics;
  row.shadows = agent.audience->shadows;
  return row;
}

}  // namespace relay::broker
