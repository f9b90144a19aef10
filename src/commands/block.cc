#include "commands/block.h"

#include "base/format.h"
#include "commands/address.h"
#include "commands/line_shape.h"
#include "commands/relaxed_json.h"
#include "commands/spawn_line.h"

namespace relay::commands {
namespace {

/// A body that is not a string is sent as its JSON.
std::string body_of(const json::object& object) {
  for (const auto* name : {"body", "text"})
    if (const auto* body = object.if_contains(name); body != nullptr && !body->is_null())
      return body->is_string() ? std::string{body->get_string()} : json::serialize(*body);
  return {};
}

MessageMetadata metadata_of(const json::object& object) {
  return {.subject = string_member(object, "subject"),
          .importance = integer_member(object, "importance"),
          .reply_to = string_member(object, "replyTo"),
          .ack_required = bool_member(object, "ackRequired")};
}

Result<Command> worker(const json::object& object, WorkerVerb verb, const SourceLocation& location) {
  const auto name = string_member(object, "name").value_or("");
  if (name.empty()) return fail("the worker's \"name\" is missing");
  if (verb == WorkerVerb::Release) return ReleaseCommand{location, name};
  const auto cli = string_member(object, "cli").value_or("");
  if (cli.empty()) return fail("\"cli\", the program to run, is missing");
  return SpawnCommand{location, name, cli, string_member(object, "task").value_or(body_of(object))};
}

Result<Command> topic_change(const json::object& object, TopicVerb verb, const SourceLocation& location) {
  const auto topic = string_member(object, "topic").value_or("");
  if (!is_topic_word(topic)) return fail("its \"topic\" is missing, or has more than letters, digits, _, -, . and /");
  return TopicChange{location, topic, verb == TopicVerb::Subscribe};
}

Result<Command> read(std::string_view text, const SourceLocation& location) {
  const auto object = RELAY_TRY(parse_relaxed_object(text));
  auto type = string_member(object, "type");
  if (!type) type = string_member(object, "kind");
  if (!type) return fail("its \"type\" is missing");
  if (const auto verb = worker_verb(*type); verb != WorkerVerb::None) return worker(object, verb, location);
  if (const auto verb = topic_verb(*type); verb != TopicVerb::None) return topic_change(object, verb, location);

  SendCommand command{.location = location};
  const auto kind = parse_kind(*type);
  if (!kind) return fail(relay::format("unknown type \"{}\"; use message, action, state or thinking", *type));
  command.kind = *kind;
  const auto to = string_member(object, "to").value_or("");
  if (to.empty()) return fail("\"to\" is missing");
  if (is_placeholder(to)) return fail(relay::format("{} is a name from an example", to));
  command.project = string_member(object, "project");
  if (command.project)
    command.to = to;
  else
    split_project(to, command.to, command.project);
  command.body = body_of(object);
  command.thread = string_member(object, "thread");
  command.topic = string_member(object, "topic");
  if (const auto* data = object_member(object, "data")) command.data = *data;
  command.metadata = metadata_of(object);
  return command;
}

}  // namespace

Command read_block(std::string_view text, const SourceLocation& location, std::string_view usage) {
  auto command = read(text, location);
  if (command) return *std::move(command);
  return CommandError{location, relay::format("the structured message was not sent: {}", command.error().message()),
                      std::string{usage}};
}

Result<MessageMetadata> read_metadata(std::string_view text) {
  return metadata_of(RELAY_TRY(parse_relaxed_object(text)));
}

void fill_metadata(MessageMetadata& metadata, const MessageMetadata& fallback) {
  if (!metadata.subject) metadata.subject = fallback.subject;
  if (!metadata.importance) metadata.importance = fallback.importance;
  if (!metadata.reply_to) metadata.reply_to = fallback.reply_to;
  if (!metadata.ack_required) metadata.ack_required = fallback.ack_required;
}

json::object read_session_end(std::string_view text) {
  text = trimmed(text);
  if (text.empty()) return {};
  if (auto object = parse_relaxed_object(text)) return *std::move(object);
  return {{"summary", text}};
}

}  // namespace relay::commands
