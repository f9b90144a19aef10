/// Who else receives what an agent sends: members of channels, subscribers of topics, shadows.
///
/// Why names and not pointers: an agent may be forgotten while an input is handled.
/// Invariant: topics and shadows are those of the sessions that are open; channels are durable.
/// Threading: the broker's.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "broker/agents.h"

namespace relay::broker {

/// Channels are compared without regard to case, as published daemons do.
std::string folded_channel(std::string_view channel);

class Audiences {
 public:
  using Names = std::set<AgentName>;

  explicit Audiences(const Agents& agents) : agents_{agents} {}

  // Channels.
  bool join(const std::string& channel, const AgentName& member);
  bool leave(const std::string& channel, const AgentName& member);
  void leave_all(const AgentName& member);
  [[nodiscard]] std::vector<AgentName> members(const std::string& channel) const;
  /// A member receives later what is sent while it is offline. Everyone is in #general, so there only present agents count.
  [[nodiscard]] bool hears_channel(const AgentState& agent, std::string_view channel) const;
  [[nodiscard]] std::size_t memberships() const { return membership_count_; }
  [[nodiscard]] std::size_t channels_of(const AgentName& member) const;
  [[nodiscard]] const std::map<std::string, Names>& channels() const { return channels_; }

  // Topics.
  void subscribe(const std::string& topic, const AgentName& name) { topics_[topic].insert(name); }
  void unsubscribe(const std::string& topic, const AgentName& name);
  [[nodiscard]] const Names* subscribers(const std::string& topic) const;
  [[nodiscard]] const std::map<std::string, Names>& topics() const { return topics_; }

  // Shadows.
  void add_shadow(const AgentName& primary, const AgentName& shadow) { shadows_[primary].insert(shadow); }
  [[nodiscard]] bool has_shadows() const { return !shadows_.empty(); }
  [[nodiscard]] const Names* shadows_of(const AgentName& primary) const;

  /// The topics and shadow bindings of an agent's session.
  void index_session(const AgentState& agent);
  void unindex_session(const AgentState& agent);

 private:
  const Agents& agents_;
  std::map<std::string, Names> channels_;  // by folded name
  std::size_t membership_count_ = 0;
  std::map<std::string, Names> topics_;
  std::map<AgentName, Names> shadows_;  // primary → its shadows
};

}  // namespace relay::broker
