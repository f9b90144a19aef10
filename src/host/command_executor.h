/// What the agent said to the relay, carried out: messages sent, agents started and ended, files picked up.
///
/// Invariants: what is not possible is explained to the agent, with the reason; a message is in the outbox, on disk,
///   before this returns. A request to the daemon that is made before the link is ready for the first time waits for that, in
///   memory and in order; at most kMaxEarlyRequests of kMaxEarlyBytes wait.
/// Ownership: borrows the link and the listener, which outlive it. Threading: loop thread only.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "client/link.h"
#include "commands/command.h"
#include "protocol/send.h"

namespace relay::host {

inline constexpr std::size_t kMaxEarlyRequests = 64;
inline constexpr std::size_t kMaxEarlyBytes = 256 * 1024;
inline constexpr std::size_t kMaxFollowedMessages = 256;

class CommandExecutorListener {
 public:
  virtual ~CommandExecutorListener() = default;
  /// A message of the agent is stored.
  virtual void on_command_sent(std::string_view to, std::string_view kind) = 0;
  /// Something was not; a sentence for the agent.
  virtual void on_command_failed(std::string_view why) = 0;
};

/// Where the agent lays down messages as files: a directory below the project.
struct OutgoingFiles {
  std::string root;
  std::vector<std::string> names;
};

class CommandExecutor {
 public:
  CommandExecutor(client::Link& link, OutgoingFiles files, CommandExecutorListener& listener)
      : link_{link}, files_{std::move(files)}, listener_{listener} {}

  void execute(const commands::Command& utterance);
  /// The daemon's answer to a message: stored, or refused.
  void on_sent(const std::string& id);
  void on_refused(const std::string& id) { unanswered_.erase(id); }
  /// About a message that the agent sent. A failure is explained to the agent when it asked for a receipt (`ackRequired`).
  void on_receipt(const protocol::Receipt& receipt);
  /// A message was sent that the daemon has neither stored nor refused.
  [[nodiscard]] bool has_unanswered() const { return !unanswered_.empty(); }
  /// The daemon has answered the first HELLO: what was asked of it before is asked now, in order.
  void on_ready();
  /// There will be no daemon: what waits for one is not done.
  void on_stopped(std::string_view why);

 private:
  struct Unanswered {
    std::string to;
    std::string_view kind;
  };
  /// Whether it is kept elsewhere now; a file it came from has then done its work.
  using Kept = bool;
  Kept execute(const commands::SendCommand& command);
  Kept execute(const commands::SpawnCommand& spawn);
  Kept execute(const commands::ReleaseCommand& release);
  Kept execute(const commands::TopicChange& change);
  Kept execute(const commands::SendFileCommand& trigger);
  Kept execute(const commands::CommandError& mistake);
  Kept execute(const commands::SummaryBlock&) { return true; }     // kept with the session's history later
  Kept execute(const commands::SessionEndBlock&) { return true; }  // likewise

  Kept refuse(std::string_view why);
  /// `what` begins the sentence that says that it was not done.
  Kept ask(protocol::MessageType type, std::string payload, const std::string& what);
  void ask_now(protocol::MessageType type, const std::string& payload, const std::string& what);

  struct EarlyRequest {
    protocol::MessageType type;
    std::string payload;
    std::string what;
  };
  client::Link& link_;
  OutgoingFiles files_;
  CommandExecutorListener& listener_;
  std::map<std::string, Unanswered> unanswered_;  // by the id of the message; at most as many as the outbox takes
  struct FollowedMessage {
    std::string id, to;
  };
  std::deque<FollowedMessage> followed_;  // with `ackRequired`, the newest kMaxFollowedMessages
  std::vector<EarlyRequest> early_;       // made before the link was ready for the first time
  std::size_t early_bytes_ = 0;
  bool waits_for_first_ready_ = true;
};

}  // namespace relay::host
