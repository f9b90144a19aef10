#include "host/turn_commands.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <variant>

#include "base/hash.h"
#include "base/json.h"

namespace relay::host {
namespace {

constexpr char kFieldEnd = '\0';

/// The fields of a command without blanks.
struct CommandText {
  std::string text;

  void add(std::string_view field) {
    std::ranges::copy_if(field, std::back_inserter(text),
                         [](char c) { return c != ' ' && c != '\t' && c != '\r' && c != '\n'; });
    text += kFieldEnd;
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
  void operator()(const commands::SendFileCommand& file) { add(file.id); }
  void operator()(const commands::SummaryBlock& summary) { add(json::serialize(summary.content)); }
  void operator()(const commands::SessionEndBlock& end) { add(json::serialize(end.content)); }
  void operator()(const commands::CommandError& error) { add(error.reason); }
};

}  // namespace

TurnCommands::Digest TurnCommands::digest_of(const commands::Command& command) {
  CommandText fields{.text = std::to_string(command.index()) + kFieldEnd};
  std::visit(fields, command);
  return sha256(fields.text);
}

void TurnCommands::add(std::deque<Digest>& digests, const Digest& digest) {
  if (digests.size() >= kMaxCommands) digests.pop_front();
  digests.push_back(digest);
}

bool TurnCommands::take(std::deque<Digest>& digests, const Digest& digest) {
  const auto found = std::ranges::find(digests, digest);
  if (found == digests.end()) return false;
  digests.erase(found);
  return true;
}

void TurnCommands::start_turn() {
  by_transcript_.clear();
  by_screen_.clear();
}

bool TurnCommands::accept_from_transcript(const commands::Command& command) {
  const auto digest = digest_of(command);
  if (take(by_screen_, digest)) return false;
  add(by_transcript_, digest);
  return true;
}

bool TurnCommands::accept_from_screen(const commands::Command& command, bool replaces_transcript) {
  const auto digest = digest_of(command);
  if (take(by_transcript_, digest) || !replaces_transcript) return false;
  add(by_screen_, digest);
  return true;
}

}  // namespace relay::host
