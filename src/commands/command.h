/// What an agent said to the relay, as values.
///
/// Why a location and not a hash: an agent may honestly say the same thing twice. Two utterances are the same one
///   exactly when they stand at the same location of the same record.
/// Invariants: texts are valid UTF-8 (what was not became U+FFFD), line ends are "\n"; a Mistake never also became a
///   Command.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/json.h"

namespace relay::commands {

/// Where an command begins in the record it was commands in.
struct SourceLocation {
  std::uint64_t offset = 0;  // bytes before the line it begins in
  std::uint64_t line = 1;    // that line's number, from 1
  std::uint64_t column = 0;  // bytes before the command within that line, control sequences left out

  bool operator==(const SourceLocation&) const = default;
};

enum class MessageKind : std::uint8_t { Message, Action, State, Thinking };
std::string_view name_of(MessageKind kind);
std::optional<MessageKind> parse_kind(std::string_view name);

/// What a `[[RELAY_METADATA]]` block before the message said about it.
struct MessageMetadata {
  std::optional<std::string> subject = {};
  std::optional<std::int64_t> importance = {};
  std::optional<std::string> reply_to = {};
  std::optional<bool> ack_required = {};

  bool operator==(const MessageMetadata&) const = default;
};

/// Something for another agent: `@relay:Bob hello`.
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

/// `->relay-file:ID`: the message lies in the agent's outbox under that name.
struct SendFileCommand {
  SourceLocation location = {};
  std::string id = {};

  bool operator==(const SendFileCommand&) const = default;
};

/// `[[SUMMARY]]{...}[[/SUMMARY]]`: how the work stands, in the agent's words.
struct SummaryBlock {
  SourceLocation location;
  json::object content;

  bool operator==(const SummaryBlock&) const = default;
};

/// `[[SESSION_END]]...[[/SESSION_END]]`: the agent has finished. Plain words come as {"summary": words}.
struct SessionEndBlock {
  SourceLocation location;
  json::object content;

  bool operator==(const SessionEndBlock&) const = default;
};

/// Something that was meant for the relay and was not carried out.
struct CommandError {
  SourceLocation location = {};
  std::string reason = {};  // one sentence for the agent
  std::string usage = {};   // what to write instead

  bool operator==(const CommandError&) const = default;
};

using Command = std::variant<SendCommand, SpawnCommand, ReleaseCommand, TopicChange, SendFileCommand, SummaryBlock,
                             SessionEndBlock, CommandError>;

const SourceLocation& location_of(const Command& command);

}  // namespace relay::commands
