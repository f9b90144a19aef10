/// The recipients of channels, topics and shadow copies: members, subscribers, shadows.
///
/// Why names and not pointers: an agent may be forgotten while an input is handled.
/// Invariant: topics and shadow bindings belong to open sessions; memberships are durable.
/// Threading: the broker's.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "broker/agents.h"

namespace relay::broker {

/// Channel names are compared without case, as in published daemons.
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
  /// An offline member receives the messages later. Every agent is in #general, so there only present agents count.
  [[nodiscard]] bool receives_channel(const AgentState& agent, std::string_view channel) const;
  [[nodiscard]] std::size_t memberships() const { return membership_count_; }
  [[nodiscard]] std::size_t channels_of(const AgentName& member) const;
  [[nodiscard]] const std::map<std::string, Names>& channels() const { return channels_; }

  // Topics of an agent's session.
  [[nodiscard]] static bool is_subscribed(const AgentState& agent, std::string_view topic);
  [[nodiscard]] static std::size_t topic_count(const AgentState& agent) { return agent.audience->topics.size(); }
  void subscribe(AgentState& agent, const std::string& topic);
  void unsubscribe(AgentState& agent, const std::string& topic);
  [[nodiscard]] const Names* subscribers(const std::string& topic) const;
  [[nodiscard]] const std::map<std::string, Names>& topics() const { return topics_; }

  // Shadow bindings of an agent's session.
  [[nodiscard]] static const std::vector<records::ShadowBinding>& bindings_of(const AgentState& shadow) {
    return shadow.audience->shadows;
  }
  /// Replaces a binding to the same primary; false when the session has too many.
  bool bind_shadow(AgentState& shadow, records::ShadowBinding binding);
  void unbind_shadow(AgentState& shadow, const AgentName& primary);
  [[nodiscard]] bool has_shadows() const { return !shadows_.empty(); }
  [[nodiscard]] const Names* shadows_of(const AgentName& primary) const;

  // Sessions.
  /// A new session of the agent, with what it subscribed to and is bound to.
  void open_session(AgentState& agent, SessionAudience audience = {});
  /// The session keeps its topics and bindings for its row, and receives nothing by them any more.
  void close_session(const AgentState& agent);
  /// The row of the agent's session, with its topics and shadow bindings.
  [[nodiscard]] static records::Session session_row(const AgentState& agent);

 private:
  const Agents& agents_;
  std::map<std::string, Names> channels_;  // by folded name
  std::size_t membership_count_ = 0;
  std::map<std::string, Names> topics_;
  std::map<AgentName, Names> shadows_;  // primary → its shadows
};

}  // namespace relay::broker
