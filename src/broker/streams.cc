#include "broker/streams.h"

#include <algorithm>
#include <tuple>

namespace relay::broker {
namespace {

// Names hold no control characters (check_agent_name), so the separator cannot occur in them.
const std::string& key_of(std::string& key, const Topic& topic, const AgentName& from, const AgentName& to,
                          protocol::Lane lane) {
  key.clear();
  key.append(to.value()).append(1, '\x1F').append(from.value()).append(1, '\x1F').append(topic.value());
  key.append(1, static_cast<char>('0' + code_of(lane)));
  return key;
}

}  // namespace

void Streams::restore(records::Stream stream) {
  const auto& key = key_of(key_, stream.topic, stream.from, stream.to, stream.lane);
  entries_.insert_or_assign(key, Entry{.stream = std::move(stream)});
}

bool Streams::contains(const Topic& topic, const AgentName& from, const AgentName& to, Lane lane) const {
  return entries_.contains(key_of(key_, topic, from, to, lane));
}

Streams::Entry& Streams::entry(const Topic& topic, const AgentName& from, const AgentName& to, Lane lane) {
  auto [place, added] = entries_.try_emplace(key_of(key_, topic, from, to, lane));
  if (added) place->second.stream = {topic, from, to, lane, Seq{}, Seq{}};
  return place->second;
}

void Streams::mark(Entry& entry) {
  if (entry.changed) return;
  entry.changed = true;
  changed_.push_back(&entry);
}

Seq Streams::next(const Topic& topic, const AgentName& from, const AgentName& to, Lane lane) {
  Entry& stream = entry(topic, from, to, lane);
  stream.stream.last = Seq{stream.stream.last.value() + 1};
  mark(stream);
  return stream.stream.last;
}

void Streams::acknowledged(const Topic& topic, const AgentName& from, const AgentName& to, Lane lane, Seq seq) {
  Entry& stream = entry(topic, from, to, lane);
  if (seq <= stream.stream.acked) return;
  stream.stream.acked = seq;
  stream.stream.last = std::max(stream.stream.last, seq);
  mark(stream);
}

std::vector<records::Stream> Streams::take_changed() {
  std::vector<records::Stream> streams;
  streams.reserve(changed_.size());
  for (Entry* entry : changed_) {
    entry->changed = false;
    streams.push_back(entry->stream);
  }
  changed_.clear();
  return streams;
}

std::vector<records::Stream> Streams::towards(const AgentName& to) const {
  std::vector<records::Stream> streams;
  for (const auto& [key, entry] : entries_) {
    if (entry.stream.to == to) streams.push_back(entry.stream);
  }
  std::ranges::sort(streams, {}, [](const records::Stream& s) { return std::tuple{s.topic, s.from, code_of(s.lane)}; });
  return streams;
}

}  // namespace relay::broker
