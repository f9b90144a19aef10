/// The known agents, by name.
///
/// Invariants: a name that another name in use can be confused with is not added by its callers (`confusable_reason`); the
///   descriptions of all agents are counted in bytes.
/// Threading: the broker's.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "broker/agent_state.h"
#include "broker/confusable_names.h"
#include "broker/context.h"
#include "broker/roster.h"

namespace relay::broker {

class Agents {
 public:
  explicit Agents(Context& context) : context_{context} {}

  void restore(records::WorkspaceState& snapshot);

  [[nodiscard]] AgentState* find(std::string_view name) {
    const auto found = agents_.find(name);
    return found == agents_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] const AgentState* find(std::string_view name) const {
    const auto found = agents_.find(name);
    return found == agents_.end() ? nullptr : &found->second;
  }
  /// The agent of that name, a new one if none is known.
  AgentState& add(const std::string& name);
  void erase(const std::string& name);
  [[nodiscard]] std::size_t size() const { return agents_.size(); }
  /// In no order.
  [[nodiscard]] auto& all() { return agents_; }
  [[nodiscard]] const auto& all() const { return agents_; }

  /// Why the name cannot be told from one that is reserved or in use; empty when it can.
  [[nodiscard]] std::string confusable_reason(std::string_view name) const;
  /// For a sender: no agent has this name, and which ones look like it.
  [[nodiscard]] std::string unknown_reason(std::string_view name) const;

  /// Does the name belong to somebody, connected or not?
  [[nodiscard]] bool is_claimed(const AgentState& agent) const;
  /// Does it receive what is sent to everyone? Connected agents and those lost a moment ago do.
  [[nodiscard]] bool in_audience(const AgentState& agent) const;

  /// Its description has changed.
  void count_description(AgentState& agent);
  /// Is there room for one name more, beside `others` that are promised?
  [[nodiscard]] bool has_room(std::size_t others) const;

  [[nodiscard]] std::vector<RosterEntry> roster() const;

 private:
  /// Found by views of names, without a copy.
  struct NameHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>{}(name); }
  };

  Context& context_;
  std::unordered_map<std::string, AgentState, NameHash, std::equal_to<>> agents_;
  ConfusableNames confusable_names_;   // of agents_
  std::size_t description_bytes_ = 0;  // of agents_
};

}  // namespace relay::broker
