#include "host/turn_commands.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <variant>

#include "base/hash.h"
#include "base/json.h"

namespace relay::host {
namespace {

constexpr char kEnd = '\0';  // of a field

struct Words {
  std::string all;

  void add(std::string_view text) {
    std::ranges::copy_if(text, std::back_inserter(all),
                         [](char c) { return c != ' ' && c != '\t' && c != '\r' && c != '\n'; });
    all += kEnd;
  }
  void operator()(const commands::SendCommand& command) {
    for (const auto* each : {&command.to, &command.body}) add(*each);
    for (const auto* each : {&command.project, &command.thread, &command.topic}) add(each->value_or(""));
  }
  void operator()(const commands::SpawnCommand& spawn) {
    for (const auto* each : {&spawn.name, &spawn.cli, &spawn.task}) add(*each);
  }
  void operator()(const commands::ReleaseCommand& release) { add(release.name); }
  void operator()(const commands::TopicChange& change) { add(change.topic + (change.subscribe ? "+" : "-")); }
  void operator()(const commands::SendFileCommand& trigger) { add(trigger.id); }
  void operator()(const commands::SummaryBlock& summary) { add(json::serialize(summary.content)); }
  void operator()(const commands::SessionEndBlock& end) { add(json::serialize(end.content)); }
  void operator()(const commands::CommandError& mistake) { add(mistake.reason); }
};

}  // namespace

TurnCommands::Digest TurnCommands::digest_of(const commands::Command& utterance) {
  Words words{.all = std::to_string(utterance.index()) + kEnd};
  std::visit(words, utterance);
  return sha256(words.all);
}

void TurnCommands::add(std::deque<Digest>& said, const Digest& what) {
  if (said.size() >= kMaxCommands) said.pop_front();
  said.push_back(what);
}

bool TurnCommands::take(std::deque<Digest>& said, const Digest& what) {
  const auto found = std::ranges::find(said, what);
  if (found == said.end()) return false;
  said.erase(found);
  return true;
}

void TurnCommands::begin_turn() {
  by_record_.clear();
  by_screen_.clear();
}

bool TurnCommands::accept_from_transcript(const commands::Command& utterance) {
  const auto what = digest_of(utterance);
  if (take(by_screen_, what)) return false;
  add(by_record_, what);
  return true;
}

bool TurnCommands::accept_from_screen(const commands::Command& utterance, bool replaces_record) {
  const auto what = digest_of(utterance);
  if (take(by_record_, what) || !replaces_record) return false;
  add(by_screen_, what);
  return true;
}

}  // namespace relay::host
