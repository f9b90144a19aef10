/// Commands of agents to the relay, as values.
///
/// Why a location and not a hash: an agent may send the same message twice. Two commands are the same exactly when they
///   have the same location in the same text.
/// Invariants: texts are valid UTF-8 (malformed bytes became U+FFFD), line ends are "\n"; a CommandError never also
///   becomes another command.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/json.h"

namespace relay::commands {

/// Where a command starts in the text it was extracted from.
struct SourceLocation {
  std::uint64_t offset = 0;  // bytes before the line it starts in
  std::uint64_t line = 1;    // that line's number, from 1
  std::uint64_t column = 0;  // bytes before the command within that line, without control sequences

  bool operator==(const SourceLocation&) const = default;
};

enum class MessageKind : std::uint8_t { Message, Action, State, Thinking };
std::string_view name_of(MessageKind kind);
std::optional<MessageKind> parse_kind(std::string_view name);

/// The metadata of a message, from its own members or headers or from a `[[RELAY_METADATA]]` block before it.
struct MessageMetadata {
  std::optional<std::string> subject = {};
  std::optional<std::int64_t> importance = {};
  std::optional<std::string> reply_to = {};
  std::optional<bool> ack_required = {};

  bool operator==(const MessageMetadata&) const = default;
};

/// A message for another agent: `@relay:Bob hello`.
struct SendCommand {
  SourceLocation location = {};
  MessageKind kind = MessageKind::Message;
  std::string to = {};  // a name, `*`, or `#channel`
  std::optional<std::string> project = {};
  std::optional<std::string> thread = {};
  std::optional<std::string> thread_project = {};
  std::optional<std::string> topic = {};
  std::string body = {};
  std::optional<json::object> data = {};
  MessageMetadata metadata = {};

  bool operator==(const SendCommand&) const = default;
};

/// `@relay:spawn Dev claude "fix the tests"`
struct SpawnCommand {
  SourceLocation location = {};
  std::string name = {};
  std::string cli = {};
  std::string task = {};  // may be empty

  bool operator==(const SpawnCommand&) const = default;
};

/// `@relay:release Dev`
struct ReleaseCommand {
  SourceLocation location = {};
  std::string name = {};

  bool operator==(const ReleaseCommand&) const = default;
};

/// `@relay:subscribe deploys`, `@relay:unsubscribe deploys`
struct TopicChange {
  SourceLocation location = {};
  std::string topic = {};
  bool subscribe = true;

  bool operator==(const TopicChange&) const = default;
};

/// `->relay-file:ID`: sends the message in the file of that name in the agent's outbox.
struct SendFileCommand {
  SourceLocation location = {};
  std::string id = {};

  bool operator==(const SendFileCommand&) const = default;
};

/// `[[SUMMARY]]{...}[[/SUMMARY]]`: a summary of the work by the agent.
struct SummaryBlock {
  SourceLocation location;
  json::object content;

  bool operator==(const SummaryBlock&) const = default;
};

/// `[[SESSION_END]]...[[/SESSION_END]]`: the agent has finished. Plain text becomes {"summary": text}.
struct SessionEndBlock {
  SourceLocation location;
  json::object content;

  bool operator==(const SessionEndBlock&) const = default;
};

/// A command that was not executed because it is invalid.
struct CommandError {
  SourceLocation location = {};
  std::string reason = {};  // one sentence for the agent
  std::string usage = {};   // the correct form

  bool operator==(const CommandError&) const = default;
};

using Command = std::variant<SendCommand, SpawnCommand, ReleaseCommand, TopicChange, SendFileCommand, SummaryBlock,
                             SessionEndBlock, CommandError>;

const SourceLocation& location_of(const Command& command);

}  // namespace relay::commands
