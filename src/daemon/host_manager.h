/// The hosts of one project, for its workspace: processes that run agents for other agents.
///
/// Invariants: `done` is called exactly once, never inside the call, and not at all after the HostManager is destroyed.
/// Threading: loop thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "broker/effects.h"
#include "broker/hosts.h"
#include "protocol/ended_session.h"

namespace relay::daemon {

class HostManager {
 public:
  using Started = std::move_only_function<void(Result<std::int32_t> pid)>;
  using Done = std::move_only_function<void(Result<void>)>;
  using Listed = std::move_only_function<void(Result<std::vector<broker::Worker>>)>;

  virtual ~HostManager() = default;

  /// Starts an agent; done when the agent has joined, or has failed to.
  virtual void start(broker::HostSpec spec, Started done) = 0;
  /// Stops an agent; done when its host has ended.
  virtual void release(const std::string& name, const broker::Release& release, Done done) = 0;
  /// Types into the agent's terminal, in the order of the calls.
  virtual void type(const std::string& name, std::string data, Done done) = 0;
  virtual void list(Listed done) = 0;
  /// Answers a prompt of an agent with any kind of host; done when the agent has the answer. An error may carry a
  /// NackCode.
  virtual void answer(broker::AnswerPrompt answer, Done done) = 0;
  /// The records that hosts left of sessions whose end the daemon may have missed. Reads files, without waiting.
  virtual std::vector<protocol::EndedSession> ended_sessions() = 0;
  /// The end of the session is durable: removes its record, if there is one.
  virtual void forget_ended_session(const SessionId& session) = 0;
  /// No rule decides this prompt: the agent may show its own dialog. The outcome is not reported.
  virtual void show_dialog(const std::string& agent, const std::string& request) = 0;
};

}  // namespace relay::daemon
