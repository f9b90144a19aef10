/// Executes the agent's relay commands: sends messages, starts and releases agents, sends files of its outbox.
///
/// Invariants: a command that fails is reported to the agent with the reason; a message is in the outbox, on disk,
///   before `execute` returns. A request to the daemon made before the link is ready for the first time waits for that,
///   in memory and in order; at most kMaxEarlyRequests of kMaxEarlyBytes wait.
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
  /// A sentence for the agent.
  virtual void on_command_failed(std::string_view why) = 0;
};

/// Where the agent writes messages as files: a directory below the project.
struct OutgoingFiles {
  std::string root;
  std::vector<std::string> names;
};

class CommandExecutor {
 public:
  CommandExecutor(client::Link& link, OutgoingFiles files, CommandExecutorListener& listener)
      : link_{link}, files_{std::move(files)}, listener_{listener} {}

  void execute(const commands::Command& command);
  /// The daemon has stored the message, or refused it.
  void on_sent(const std::string& id);
  void on_refused(const std::string& id) { unanswered_.erase(id); }
  /// About a message that the agent sent. A failure is explained to the agent when it asked for a receipt (`ackRequired`).
  void on_receipt(const protocol::Receipt& receipt);
  /// A message was sent that the daemon has neither stored nor refused.
  [[nodiscard]] bool has_unanswered() const { return !unanswered_.empty(); }
  /// The daemon has answered the first HELLO: pending requests are sent, in order.
  void on_ready();
  /// The link has stopped: pending requests fail.
  void on_stopped(std::string_view why);

 private:
  struct Unanswered {
    std::string to;
    std::string_view kind;
  };
  /// True when it is stored elsewhere now, so that the file it came from can be removed.
  using IsStored = bool;
  IsStored execute(const commands::SendCommand& command);
  IsStored execute(const commands::SpawnCommand& spawn);
  IsStored execute(const commands::ReleaseCommand& release);
  IsStored execute(const commands::TopicChange& change);
  IsStored execute(const commands::SendFileCommand& trigger);
  IsStored execute(const commands::CommandError& mistake);
  IsStored execute(const commands::SummaryBlock&) { return true; }     // kept with the session's history later
  IsStored execute(const commands::SessionEndBlock&) { return true; }  // likewise

  IsStored refuse(std::string_view why);
  /// `what`: the first words of the sentence that reports a failure.
  IsStored request(protocol::MessageType type, std::string payload, const std::string& what);
  void request_now(protocol::MessageType type, const std::string& payload, const std::string& what);

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
