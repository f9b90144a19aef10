/// Senders without a session of their own: the command line, HTTP callers, agents that have not sent HELLO yet.
/// Threading: the broker's.
#pragma once

#include <optional>
#include <string_view>

#include "broker/agent_removal.h"
#include "broker/authority.h"
#include "broker/commit_pipeline.h"

namespace relay::broker {

class OneShotSenders {
 public:
  OneShotSenders(Context& context, CommitPipeline& commits, Agents& agents, const Authority& authority,
                 AgentRemoval& removal)
      : context_{context}, commits_{commits}, agents_{agents}, authority_{authority}, removal_{removal} {}

  /// Why the connection may not send under this name.
  std::optional<Rejection> check(const ConnectionState& connection, std::string_view name,
                                 std::string_view claim_token);
  /// The name exists from now on, so that answers reach it.
  AgentState& add(std::string_view name);

 private:
  Context& context_;
  CommitPipeline& commits_;
  Agents& agents_;
  const Authority& authority_;
  AgentRemoval& removal_;
};

}  // namespace relay::broker
