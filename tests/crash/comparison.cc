#include "comparison.h"

#include <algorithm>
#include <unordered_set>

#include "base/format.h"

namespace relay::crash {
namespace {

void add_example(Comparison& comparison, std::string text) {
  if (comparison.examples.size() < kMaxExamples) comparison.examples.push_back(std::move(text));
}

std::string name_of(const std::string& from, const std::string& to, const std::string& topic, std::uint64_t number) {
  return relay::format("message {} of {} -> {}{}{}", number, from, to, topic.empty() ? "" : " on ", topic);
}

/// Compares both ends of one stream.
void compare_stream(Comparison& comparison, const std::string& from, const std::string& to, const std::string& topic,
                    std::uint64_t tried, const std::vector<std::uint64_t>& accepted,
                    const std::vector<std::uint64_t>& received) {
  std::unordered_set<std::uint64_t> seen;
  std::uint64_t next = 0;  // one more than the highest so far
  for (const auto number : received) {
    if (number >= tried) {
      ++comparison.spurious;
      add_example(comparison, name_of(from, to, topic, number) + " was never sent");
    } else if (!seen.insert(number).second) {
      ++comparison.duplicated;
      add_example(comparison, name_of(from, to, topic, number) + " was received twice");
    } else if (number < next) {
      ++comparison.out_of_order;
      add_example(comparison,
                  relay::format("{} was received after number {}", name_of(from, to, topic, number), next - 1));
    }
    next = std::max(next, number + 1);
  }
  for (const auto number : accepted) {
    if (seen.contains(number)) continue;
    ++comparison.lost;
    add_example(comparison, name_of(from, to, topic, number) + " was lost");
  }
  comparison.accepted += accepted.size();
  comparison.in_doubt += tried - accepted.size();
  comparison.received += received.size();
}

}  // namespace

Comparison compare(const std::map<std::string, ClientJournals>& journals) {
  std::map<std::string, std::map<Lane, std::vector<std::uint64_t>>> received;  // by recipient
  for (const auto& [name, client] : journals)
    for (const auto& receipt : parse_received(client.received)) received[name][receipt.lane].push_back(receipt.number);

  Comparison comparison;
  for (const auto& [from, client] : journals) {
    const auto sent = parse_sent(client.sent);
    comparison.refused += sent.refused.size();
    for (const auto& reason : sent.refused)
      add_example(comparison, relay::format("a message of {} was refused: {}", from, reason));
    for (const auto& [lane, tried] : sent.next) {
      const auto accepted = sent.accepted.find(lane);
      auto& inbox = received[lane.peer];
      const auto stream = inbox.find(Lane{from, lane.topic});
      static const std::vector<std::uint64_t> kNone;
      compare_stream(comparison, from, lane.peer, lane.topic, tried,
                     accepted == sent.accepted.end() ? kNone : accepted->second,
                     stream == inbox.end() ? kNone : stream->second);
      if (stream != inbox.end()) inbox.erase(stream);
    }
  }
  for (const auto& [to, streams] : received)
    for (const auto& [lane, numbers] : streams) compare_stream(comparison, lane.peer, to, lane.topic, 0, {}, numbers);
  return comparison;
}

}  // namespace relay::crash
