#include "verdict.h"

#include <algorithm>
#include <unordered_set>

#include "base/format.h"

namespace relay::crash {
namespace {

void example(Verdict& verdict, std::string text) {
  if (verdict.examples.size() < kMaxExamples) verdict.examples.push_back(std::move(text));
}

std::string name_of(const std::string& from, const std::string& to, const std::string& topic, std::uint64_t number) {
  return relay::format("message {} of {} -> {}{}{}", number, from, to, topic.empty() ? "" : " on ", topic);
}

/// One stream, both ends.
void judge_stream(Verdict& verdict, const std::string& from, const std::string& to, const std::string& topic,
                  std::uint64_t tried, const std::vector<std::uint64_t>& accepted,
                  const std::vector<std::uint64_t>& heard) {
  std::unordered_set<std::uint64_t> seen;
  std::uint64_t beyond = 0;  // one more than the highest so far
  for (const auto number : heard) {
    if (number >= tried) {
      ++verdict.invented;
      example(verdict, name_of(from, to, topic, number) + " was never sent");
    } else if (!seen.insert(number).second) {
      ++verdict.duplicated;
      example(verdict, name_of(from, to, topic, number) + " came twice");
    } else if (number < beyond) {
      ++verdict.disordered;
      example(verdict, relay::format("{} came after number {}", name_of(from, to, topic, number), beyond - 1));
    }
    beyond = std::max(beyond, number + 1);
  }
  for (const auto number : accepted) {
    if (seen.contains(number)) continue;
    ++verdict.lost;
    example(verdict, name_of(from, to, topic, number) + " was lost");
  }
  verdict.accepted += accepted.size();
  verdict.in_doubt += tried - accepted.size();
  verdict.received += heard.size();
}

}  // namespace

Verdict judge(const std::map<std::string, Witness>& witnesses) {
  std::map<std::string, std::map<Lane, std::vector<std::uint64_t>>> heard;  // by recipient
  for (const auto& [name, witness] : witnesses)
    for (const auto& receipt : parse_received(witness.received)) heard[name][receipt.lane].push_back(receipt.number);

  Verdict verdict;
  for (const auto& [from, witness] : witnesses) {
    const auto sent = parse_sent(witness.sent);
    verdict.refused += sent.refused.size();
    for (const auto& reason : sent.refused)
      example(verdict, relay::format("a message of {} was refused: {}", from, reason));
    for (const auto& [lane, tried] : sent.next) {
      const auto accepted = sent.accepted.find(lane);
      auto& inbox = heard[lane.peer];
      const auto stream = inbox.find(Lane{from, lane.topic});
      static const std::vector<std::uint64_t> kNone;
      judge_stream(verdict, from, lane.peer, lane.topic, tried,
                   accepted == sent.accepted.end() ? kNone : accepted->second,
                   stream == inbox.end() ? kNone : stream->second);
      if (stream != inbox.end()) inbox.erase(stream);
    }
  }
  for (const auto& [to, streams] : heard)
    for (const auto& [lane, numbers] : streams) judge_stream(verdict, lane.peer, to, lane.topic, 0, {}, numbers);
  return verdict;
}

}  // namespace relay::crash
