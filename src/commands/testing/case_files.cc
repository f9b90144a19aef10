#include "commands/testing/case_files.h"

#include <fstream>
#include <sstream>

#include "base/format.h"

namespace relay::commands::testing {

json::value load_cases(const std::string& file) {
  const std::ifstream stream{relay::format("{}/{}", RELAY_COMMANDS_TESTDATA, file)};
  std::stringstream text;
  text << stream.rdbuf();
  auto value = parse_json(text.str());
  RELAY_ASSERT(value.has_value());
  return *std::move(value);
}

json::object as_json(const SendCommand& command) {
  json::object object{{"to", command.to}, {"kind", name_of(command.kind)}, {"body", command.body}};
  if (command.thread) object["thread"] = *command.thread;
  if (command.thread_project) object["threadProject"] = *command.thread_project;
  if (command.topic) object["topic"] = *command.topic;
  if (command.project) object["project"] = *command.project;
  if (command.data) object["data"] = *command.data;
  json::object meta;
  if (command.metadata.subject) meta["subject"] = *command.metadata.subject;
  if (command.metadata.importance) meta["importance"] = *command.metadata.importance;
  if (command.metadata.reply_to) meta["replyTo"] = *command.metadata.reply_to;
  if (command.metadata.ack_required) meta["ackRequired"] = *command.metadata.ack_required;
  if (!meta.empty()) object["meta"] = meta;
  return object;
}

json::array sends_as_json(const std::vector<Command>& commands) {
  json::array array;
  for (const auto& command : commands)
    if (const auto* send = std::get_if<SendCommand>(&command)) array.push_back(as_json(*send));
  return array;
}

}  // namespace relay::commands::testing
