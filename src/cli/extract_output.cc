#include "cli/extract_output.h"

#include "base/format.h"
#include "cli/text.h"

namespace relay::cli {
namespace {

template <class... Each>
struct Overloads : Each... {
  using Each::operator()...;
};

void add(json::object& object, std::string_view name, const std::optional<std::string>& value) {
  if (value) object[name] = *value;
}

void add_command(json::object& object, const speech::Command& command) {
  object["what"] = "command";
  object["kind"] = speech::name_of(command.kind);
  object["to"] = command.to;
  object["body"] = command.body;
  add(object, "thread", command.thread);
  add(object, "threadProject", command.thread_project);
  add(object, "project", command.project);
  if (command.data) object["data"] = *command.data;
  json::object meta;
  add(meta, "subject", command.wishes.subject);
  if (command.wishes.importance) meta["importance"] = *command.wishes.importance;
  add(meta, "replyTo", command.wishes.reply_to);
  if (command.wishes.ack_required) meta["ackRequired"] = *command.wishes.ack_required;
  if (!meta.empty()) object["meta"] = std::move(meta);
}

std::string address(const speech::Command& command) {
  std::string text = command.project ? *command.project + ":" + command.to : command.to;
  if (command.thread) text += relay::format(" [thread:{}]", *command.thread);
  return text;
}

std::string words(const speech::Utterance& utterance) {
  return std::visit(
      Overloads{[](const speech::Command& command) {
                  return relay::format("{} to {}: {}", speech::name_of(command.kind), address(command), command.body);
                },
                [](const speech::Spawn& spawn) {
                  return relay::format("spawn {} with {}: {}", spawn.name, spawn.cli, spawn.task);
                },
                [](const speech::Release& release) { return relay::format("release {}", release.name); },
                [](const speech::FileTrigger& trigger) { return relay::format("send the outbox file {}", trigger.id); },
                [](const speech::Summary& summary) { return "summary: " + json::serialize(summary.content); },
                [](const speech::SessionEnd& end) { return "end of session: " + json::serialize(end.content); },
                [](const speech::Mistake& mistake) {
                  return relay::format("mistake: {}; write: {}", mistake.reason, mistake.right_form);
                }},
      utterance);
}

}  // namespace

json::object utterance_json(const speech::Utterance& utterance) {
  const auto& place = speech::place_of(utterance);
  json::object object{{"t", nullptr}, {"line", place.line}, {"column", place.column}};
  std::visit(Overloads{[&](const speech::Command& command) { add_command(object, command); },
                       [&](const speech::Spawn& spawn) {
                         object["what"] = "spawn";
                         object["name"] = spawn.name;
                         object["cli"] = spawn.cli;
                         object["task"] = spawn.task;
                       },
                       [&](const speech::Release& release) {
                         object["what"] = "release";
                         object["name"] = release.name;
                       },
                       [&](const speech::FileTrigger& trigger) {
                         object["what"] = "file";
                         object["id"] = trigger.id;
                       },
                       [&](const speech::Summary& summary) {
                         object["what"] = "summary";
                         object["data"] = summary.content;
                       },
                       [&](const speech::SessionEnd& end) {
                         object["what"] = "session_end";
                         object["data"] = end.content;
                       },
                       [&](const speech::Mistake& mistake) {
                         object["what"] = "mistake";
                         object["reason"] = mistake.reason;
                         object["rightForm"] = mistake.right_form;
                       }},
             utterance);
  return object;
}

std::string utterance_line(const speech::Utterance& utterance) {
  return relay::format("{}: {}\n", speech::place_of(utterance).line, sanitised(words(utterance), Lines::Join));
}

}  // namespace relay::cli
