/// The hosts of one project as its workspace sees them: agents that run for others, in processes of their own.
///
/// Contract: `done` is called exactly once, never from inside the call, and not at all once the Hosts are gone.
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

  /// Runs it; done when the agent is there, or when it is known that it is not.
  virtual void start(broker::HostSpec spec, Started done) = 0;
  /// Ends it; done when it is gone.
  virtual void release(const std::string& name, const broker::Release& release, Done done) = 0;
  /// Types into its terminal, in the order of the calls.
  virtual void type(const std::string& name, std::string data, Done done) = 0;
  virtual void list(Listed done) = 0;
  /// Tells what it asked for, whoever started it; done when it was told. An error may carry a protocol::Refusal.
  virtual void answer(broker::AnswerPrompt answer, Done done) = 0;
  /// The records that hosts left of sessions whose end the daemon may not have heard. Reads files, without waiting.
  virtual std::vector<protocol::EndedSession> ended_sessions() = 0;
  /// That end is durable: its record is removed, if there is one.
  virtual void forget_ended_session(const SessionId& session) = 0;
  /// No rule decides that request: the agent's own dialog does. Nobody is told whether it was heard.
  virtual void show_dialog(const std::string& agent, const std::string& request) = 0;
};

}  // namespace relay::daemon
