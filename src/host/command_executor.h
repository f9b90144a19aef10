/// Executes the agent's relay commands: sends messages and files of its outbox, starts and releases agents.
///
/// Invariants: a failed command is reported to the agent with the reason; a message is in the outbox, on disk, before
///   `execute` returns. Requests to the daemon before the link is ready for the first time are queued in memory, in
///   order; at most kMaxEarlyRequests with kMaxEarlyBytes.
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
  /// The daemon has stored a message of the agent.
  virtual void on_command_sent(std::string_view to, std::string_view kind) = 0;
  /// `why`: the reason, for the agent.
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
  /// The daemon has stored or refused the message.
  void on_sent(const std::string& id);
  void on_refused(const std::string& id) { unacknowledged_.erase(id); }
  /// A receipt of a sent message. A failure is reported to the agent when the message has `ackRequired`.
  void on_receipt(const protocol::Receipt& receipt);
  /// The daemon has neither stored nor refused a message that was sent.
  [[nodiscard]] bool has_unacknowledged() const { return !unacknowledged_.empty(); }
  /// The link is ready: queued requests are sent, in order.
  void on_ready();
  /// The link has stopped: queued requests fail.
  void on_stopped(std::string_view why);

 private:
  struct UnacknowledgedMessage {
    std::string to;
    std::string_view kind;
  };
  /// True when the content is stored elsewhere, so that its file can be removed.
  bool execute(const commands::SendCommand& command);
  bool execute(const commands::SpawnCommand& spawn);
  bool execute(const commands::ReleaseCommand& release);
  bool execute(const commands::TopicChange& change);
  bool execute(const commands::SendFileCommand& file);
  bool execute(const commands::CommandError& error);
  bool execute(const commands::SummaryBlock&) { return true; }
  bool execute(const commands::SessionEndBlock&) { return true; }

  bool fail_command(std::string_view why);
  /// `what`: the start of the message that reports a failure.
  bool request(protocol::MessageType type, std::string payload, const std::string& what);
  void request_now(protocol::MessageType type, const std::string& payload, const std::string& what);

  struct EarlyRequest {
    protocol::MessageType type;
    std::string payload;
    std::string what;
  };
  client::Link& link_;
  OutgoingFiles files_;
  CommandExecutorListener& listener_;
  std::map<std::string, UnacknowledgedMessage> unacknowledged_;  // by message id; bounded by the outbox
  struct FollowedMessage {
    std::string id, to;
  };
  std::deque<FollowedMessage> followed_;  // with `ackRequired`, the newest kMaxFollowedMessages
  std::vector<EarlyRequest> early_;       // before the link was ready for the first time
  std::size_t early_bytes_ = 0;
  bool before_first_ready_ = true;
};

}  // namespace relay::host
