#include "commands/spawn_line.h"

#include <algorithm>
#include <array>
#include <utility>

#include "commands/address.h"
#include "commands/line_shape.h"

namespace relay::commands {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kQuotes{{
    {"\"", "\""},
    {"'", "'"},
    {"“", "”"},
    {"`", "`"},
}};

bool equals_ignoring_case(std::string_view text, std::string_view lower) {
  return std::ranges::equal(text, lower, [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; });
}

std::string_view take_word(std::string_view& text) {
  const auto word = text.substr(0, std::min(text.find_first_of(" \t"), text.size()));
  text = trimmed(text.substr(word.size()));
  return word;
}

Result<void> check_word(std::string_view word, std::string_view what) {
  if (word.empty()) return fail(std::string{what} + " is missing");
  if (word.find_first_of("\"'`<>*/\\[]{}") != std::string_view::npos || word.starts_with("-"))
    return fail(std::string{what} + " is not a plain word");
  return {};
}

Result<std::string> task_of(std::string_view text) {
  for (const auto& [opens, closes] : kQuotes) {
    if (!text.starts_with(opens)) continue;
    auto inside = text.substr(opens.size());
    if (!inside.ends_with(closes) || inside.ends_with("\\\"")) return fail("the quotes around the task do not close");
    inside.remove_suffix(closes.size());
    std::string task;
    for (std::size_t at = 0; at < inside.size(); ++at) {
      if (inside[at] == '\\' && inside.substr(at + 1).starts_with(closes)) continue;
      task += inside[at];
    }
    return task;
  }
  return std::string{text};
}

}  // namespace

WorkerVerb worker_verb(std::string_view target) {
  if (equals_ignoring_case(target, "spawn")) return WorkerVerb::Spawn;
  if (equals_ignoring_case(target, "release")) return WorkerVerb::Release;
  return WorkerVerb::None;
}

TopicVerb topic_verb(std::string_view target) {
  if (equals_ignoring_case(target, "subscribe")) return TopicVerb::Subscribe;
  if (equals_ignoring_case(target, "unsubscribe")) return TopicVerb::Unsubscribe;
  return TopicVerb::None;
}

Result<SpawnLine> read_spawn(std::string_view text) {
  SpawnLine spawn;
  spawn.name = take_word(text);
  RELAY_TRY(check_word(spawn.name, "the worker's name"));
  spawn.cli = take_word(text);
  RELAY_TRY(check_word(spawn.cli, "the program to run"));
  if (text.starts_with("<<<"))
    spawn.opens = text;
  else
    spawn.task = RELAY_TRY(task_of(text));
  return spawn;
}

Result<std::string> read_release(std::string_view text) {
  const auto name = take_word(text);
  RELAY_TRY(check_word(name, "the worker's name"));
  if (!text.empty()) return fail("more than a name follows");
  return std::string{name};
}

Result<std::string> read_topic(std::string_view text) {
  const auto topic = take_word(text);
  if (topic.empty()) return fail("the topic is missing");
  if (!is_topic_word(topic)) return fail("a topic has letters, digits, _, -, . and / only");
  if (!text.empty()) return fail("more than a topic follows");
  return std::string{topic};
}

}  // namespace relay::commands
