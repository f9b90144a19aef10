#include "cli/render/extract_output.h"

#include "base/format.h"
#include "cli/render/text.h"

namespace relay::cli {
namespace {

template <class... Each>
struct Overloads : Each... {
  using Each::operator()...;
};

void add(json::object& object, std::string_view name, const std::optional<std::string>& value) {
  if (value) object[name] = *value;
}

void add_send(json::object& object, const commands::SendCommand& command) {
  object["type"] = "command";
  object["kind"] = commands::name_of(command.kind);
  object["to"] = command.to;
  object["body"] = command.body;
  add(object, "thread", command.thread);
  add(object, "threadProject", command.thread_project);
  add(object, "topic", command.topic);
  add(object, "project", command.project);
  if (command.data) object["data"] = *command.data;
  json::object meta;
  add(meta, "subject", command.metadata.subject);
  if (command.metadata.importance) meta["importance"] = *command.metadata.importance;
  add(meta, "replyTo", command.metadata.reply_to);
  if (command.metadata.ack_required) meta["ackRequired"] = *command.metadata.ack_required;
  if (!meta.empty()) object["meta"] = std::move(meta);
}

std::string address(const commands::SendCommand& command) {
  std::string text = command.project ? *command.project + ":" + command.to : command.to;
  if (command.thread) text += relay::format(" [thread:{}]", *command.thread);
  if (command.topic) text += relay::format(" [topic:{}]", *command.topic);
  return text;
}

std::string describe(const commands::Command& command) {
  return std::visit(
      Overloads{
          [](const commands::SendCommand& send) {
            return relay::format("{} to {}: {}", commands::name_of(send.kind), address(send), send.body);
          },
          [](const commands::SpawnCommand& spawn) {
            return relay::format("spawn {} with {}: {}", spawn.name, spawn.cli, spawn.task);
          },
          [](const commands::ReleaseCommand& release) { return relay::format("release {}", release.name); },
          [](const commands::TopicChange& change) {
            return relay::format("{} {}", change.subscribe ? "subscribe to" : "unsubscribe from", change.topic);
          },
          [](const commands::SendFileCommand& trigger) { return relay::format("send the outbox file {}", trigger.id); },
          [](const commands::SummaryBlock& summary) { return "summary: " + json::serialize(summary.content); },
          [](const commands::SessionEndBlock& end) { return "end of session: " + json::serialize(end.content); },
          [](const commands::CommandError& error) {
            return relay::format("error: {}; usage: {}", error.reason, error.usage);
          }},
      command);
}

}  // namespace

json::object command_json(const commands::Command& command) {
  const auto& location = commands::location_of(command);
  json::object object{{"t", nullptr}, {"line", location.line}, {"column", location.column}};
  std::visit(Overloads{[&](const commands::SendCommand& send) { add_send(object, send); },
                       [&](const commands::SpawnCommand& spawn) {
                         object["type"] = "spawn";
                         object["name"] = spawn.name;
                         object["cli"] = spawn.cli;
                         object["task"] = spawn.task;
                       },
                       [&](const commands::ReleaseCommand& release) {
                         object["type"] = "release";
                         object["name"] = release.name;
                       },
                       [&](const commands::TopicChange& change) {
                         object["type"] = change.subscribe ? "subscribe" : "unsubscribe";
                         object["topic"] = change.topic;
                       },
                       [&](const commands::SendFileCommand& trigger) {
                         object["type"] = "file";
                         object["id"] = trigger.id;
                       },
                       [&](const commands::SummaryBlock& summary) {
                         object["type"] = "summary";
                         object["data"] = summary.content;
                       },
                       [&](const commands::SessionEndBlock& end) {
                         object["type"] = "session_end";
                         object["data"] = end.content;
                       },
                       [&](const commands::CommandError& error) {
                         object["type"] = "error";
                         object["reason"] = error.reason;
                         object["usage"] = error.usage;
                       }},
             command);
  return object;
}

std::string command_line(const commands::Command& command) {
  return relay::format("{}: {}\n", commands::location_of(command).line, sanitize(describe(command), Lines::Join));
}

namespace {

json::array choices_of(const std::vector<profiles::DialogChoice>& choices) {
  json::array array;
  for (const auto& choice : choices) array.push_back(json::object{{"number", choice.number}, {"label", choice.label}});
  return array;
}

template <class Number>
void add_number(json::object& object, std::string_view name, const std::optional<Number>& value) {
  if (value) object[name] = *value;
}

json::object observation_object(const profiles::Observation& observation) {
  return std::visit(Overloads{[](const profiles::StateChanged& changed) {
                                json::array evidence;
                                for (const auto& each : changed.estimate.evidence)
                                  evidence.push_back(json::object{{"source", each.source}, {"detail", each.detail}});
                                return json::object{{"type", "state"},
                                                    {"state", profiles::name_of(changed.estimate.state)},
                                                    {"evidence", std::move(evidence)}};
                              },
                              [](const profiles::CommandSeen& seen) { return command_json(seen.command); },
                              [](const profiles::PermissionDialog& dialog) {
                                return json::object{{"type", "permission"},
                                                    {"tool", dialog.tool},
                                                    {"command", dialog.command},
                                                    {"choices", choices_of(dialog.choices)}};
                              },
                              [](const profiles::QuestionDialog& dialog) {
                                return json::object{{"type", "question"},
                                                    {"text", dialog.text},
                                                    {"choices", choices_of(dialog.choices)}};
                              },
                              [](const profiles::ScreenUsage& usage) {
                                json::object object{{"type", "tokens"}};
                                add_number(object, "input", usage.input_tokens);
                                add_number(object, "output", usage.output_tokens);
                                add_number(object, "cached", usage.cached_tokens);
                                add_number(object, "total", usage.total_tokens);
                                add_number(object, "cost", usage.cost_dollars);
                                add_number(object, "percent", usage.percent);
                                return object;
                              },
                              [](const profiles::ScreenLimit& limit) {
                                return json::object{{"type", "limit"}, {"limit", limit.what}, {"resets", limit.resets}};
                              }},
                    observation);
}

}  // namespace

json::object observation_json(const profiles::TimedObservation& timed) {
  json::object object = observation_object(timed.observation);
  object["t"] = timed.seconds;
  return object;
}

std::string observation_line(const profiles::TimedObservation& timed) {
  const auto* seen = std::get_if<profiles::CommandSeen>(&timed.observation);
  std::string text;
  if (seen != nullptr) {
    text = describe(seen->command);
  } else {
    auto object = observation_object(timed.observation);
    text = string_member(object, "type").value_or("");
    object.erase("type");
    object.erase("evidence");
    if (const auto state = string_member(object, "state"); state)
      text += " " + *state;
    else
      text += " " + json::serialize(object);
  }
  return relay::format("{:.1f} s: {}\n", timed.seconds, sanitize(text, Lines::Join));
}

}  // namespace relay::cli
