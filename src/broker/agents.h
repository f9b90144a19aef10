/// The agents of the workspace, by name, with their stored records and their counts.
///
/// Invariants: callers check `confusable_reason` before they add a name; the descriptions of all agents are counted in
///   bytes.
/// Threading: the broker's.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "broker/agent_state.h"
#include "broker/confusable_names.h"
#include "broker/context.h"
#include "broker/roster.h"
#include "protocol/hello.h"

namespace relay::broker {

class Agents {
 public:
  explicit Agents(Context& context) : context_{context} {}

  void restore(records::WorkspaceState& state);

  [[nodiscard]] AgentState* find(std::string_view name) {
    const auto found = agents_.find(name);
    return found == agents_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] const AgentState* find(std::string_view name) const {
    const auto found = agents_.find(name);
    return found == agents_.end() ? nullptr : &found->second;
  }
  /// The agent of that name, a new one if there is none.
  AgentState& add(const std::string& name);
  void erase(const std::string& name);
  [[nodiscard]] std::size_t size() const { return agents_.size(); }
  /// In no order.
  [[nodiscard]] auto& all() { return agents_; }
  [[nodiscard]] const auto& all() const { return agents_; }

  /// Why the name can be confused with one that is reserved or in use; empty when it cannot.
  [[nodiscard]] std::string confusable_reason(std::string_view name) const;
  /// For a sender: no agent has this name, and which names are similar.
  [[nodiscard]] std::string unknown_reason(std::string_view name) const;

  /// True if the name has an owner, connected or not.
  [[nodiscard]] bool is_claimed(const AgentState& agent) const;
  /// True if it receives broadcasts: it is connected, or its connection was lost a moment ago.
  [[nodiscard]] bool in_audience(const AgentState& agent) const;
  /// True if there is room for another name beside `others` that are reserved.
  [[nodiscard]] bool has_room(std::size_t others) const;

  // The record. The caller saves it.
  /// What the agent reports about itself in HELLO.
  void set_description(AgentState& agent, const protocol::Hello& hello);
  void set_claim(AgentState& agent, std::string claim_hash) { agent.record.write().claim_hash = std::move(claim_hash); }
  void set_last_seen(AgentState& agent, WallMs at) { agent.record.write().last_seen = at; }
  /// Whether that is a change.
  bool set_paused(AgentState& agent, bool paused, const std::string& reason);
  void set_policy(AgentState& agent, std::vector<protocol::DeliveryPolicyRule> rules) {
    agent.record.write().policy = std::move(rules);
  }
  void mark_saved(AgentState& agent) { agent.saved.write() = true; }

  // Counts of committed messages and of deliveries that became Delivered; the store counts the same.
  void count_sent(const AgentName& sender);
  void count_received(AgentState& agent);
  /// True if a count has changed since the last call.
  bool take_counts_changed() { return std::exchange(counts_changed_, false); }

  [[nodiscard]] std::vector<RosterEntry> roster() const;

 private:
  void count_description(AgentState& agent);

  /// Lookup by string_view, without a copy.
  struct NameHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>{}(name); }
  };

  Context& context_;
  std::unordered_map<std::string, AgentState, NameHash, std::equal_to<>> agents_;
  ConfusableNames confusable_names_;   // of agents_
  std::size_t description_bytes_ = 0;  // of agents_
  bool counts_changed_ = false;
};

}  // namespace relay::broker
