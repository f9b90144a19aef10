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
  if (command.wishes.subject) meta["subject"] = *command.wishes.subject;
  if (command.wishes.importance) meta["importance"] = *command.wishes.importance;
  if (command.wishes.reply_to) meta["replyTo"] = *command.wishes.reply_to;
  if (command.wishes.ack_required) meta["ackRequired"] = *command.wishes.ack_required;
  if (!meta.empty()) object["meta"] = meta;
  return object;
}

json::array commands_of(const std::vector<Command>& heard) {
  json::array commands;
  for (const auto& utterance : heard)
    if (const auto* command = std::get_if<SendCommand>(&utterance)) commands.push_back(as_json(*command));
  return commands;
}

}  // namespace relay::commands::testing
