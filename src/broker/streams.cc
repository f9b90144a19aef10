#include "broker/streams.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace relay::broker {
namespace {

constexpr std::size_t kMaxScanned = 64;  // streams that cannot be forgotten, in a search for one that can

// Names hold no control characters (check_agent_name), so the separator cannot occur in them.
const std::string& key_of(std::string& key, const Topic& topic, const AgentName& from, const AgentName& to,
                          protocol::Lane lane) {
  key.clear();
  key.append(to.value()).append(1, '\x1F').append(from.value()).append(1, '\x1F').append(topic.value());
  key.append(1, static_cast<char>('0' + lane_code(lane)));
  return key;
}

std::string pair_of(const records::Stream& stream) {
  std::string key;
  key_of(key, Topic{}, stream.from, stream.to, stream.lane);
  return key;
}

}  // namespace

void Streams::restore_mark(const records::Stream& mark) {
  auto& last = marks_[pair_of(mark)];
  last = std::max(last, mark.last);
}

void Streams::restore(records::Stream stream) {
  const auto& key = key_of(key_, stream.topic, stream.from, stream.to, stream.lane);
  auto& place = entries_[key];
  if (!place.stream.topic.value().empty()) unlink(place);
  place.stream = std::move(stream);
  if (!place.stream.topic.value().empty()) link(place);
}

bool Streams::contains(const Topic& topic, const AgentName& from, const AgentName& to, Lane lane) const {
  return entries_.contains(key_of(key_, topic, from, to, lane));
}

Streams::Entry& Streams::entry(const Topic& topic, const AgentName& from, const AgentName& to, Lane lane) {
  auto [place, added] = entries_.try_emplace(key_of(key_, topic, from, to, lane));
  if (!added) return place->second;
  Entry& fresh = place->second;
  fresh.stream = {topic, from, to, lane, Seq{}, Seq{}};
  if (!marks_.empty())
    if (const auto mark = marks_.find(pair_of(fresh.stream)); mark != marks_.end() && !topic.value().empty())
      fresh.stream.last = mark->second;
  if (!topic.value().empty()) link(fresh);
  return fresh;
}

void Streams::link(Entry& entry) {
  Sender& sender = senders_[entry.stream.from.value()];
  entry.older = sender.newest;
  entry.newer = nullptr;
  (sender.newest != nullptr ? sender.newest->newer : sender.oldest) = &entry;
  sender.newest = &entry;
  ++sender.count;
}

void Streams::unlink(Entry& entry) {
  const auto sender = senders_.find(entry.stream.from.value());
  (entry.older != nullptr ? entry.older->newer : sender->second.oldest) = entry.newer;
  (entry.newer != nullptr ? entry.newer->older : sender->second.newest) = entry.older;
  entry.older = entry.newer = nullptr;
  if (--sender->second.count == 0) senders_.erase(sender);
}

void Streams::use(Entry& entry) {
  if (entry.stream.topic.value().empty() || entry.newer == nullptr) return;  // it is the newest
  unlink(entry);
  link(entry);
}

void Streams::forget(Entry& entry) {
  auto& mark = marks_[pair_of(entry.stream)];
  mark = std::max(mark, entry.stream.last);
  unlink(entry);
  forgotten_.push_back(std::move(entry.stream));
  const auto& stream = forgotten_.back();
  entries_.erase(key_of(key_, stream.topic, stream.from, stream.to, stream.lane));
}

bool Streams::make_room(const AgentName& from, std::size_t streams, const Idle& idle) {
  const std::size_t max = max_topics_ - std::min(max_topics_, streams);
  for (std::size_t misses = 0; misses < kMaxScanned;) {
    const auto sender = senders_.find(from.value());
    if (sender == senders_.end() || sender->second.count <= max) return true;
    Entry& oldest = *sender->second.oldest;
    if (can_forget(oldest, idle)) {
      forget(oldest);
    } else {
      use(oldest);  // checked again after all others
      ++misses;
    }
  }
  return false;
}

void Streams::shrink_to(std::size_t max, const Idle& idle) {
  std::vector<Entry*> found;
  for (auto sender = senders_.begin(); sender != senders_.end() && entries_.size() > max + found.size(); ++sender) {
    std::size_t scanned = 0;
    for (Entry* entry = sender->second.oldest; entry != nullptr && scanned < kMaxScanned;
         entry = entry->newer, ++scanned)
      if (can_forget(*entry, idle)) found.push_back(entry);
  }
  for (Entry* entry : found) {
    if (entries_.size() <= max) return;
    forget(*entry);
  }
}

void Streams::mark(Entry& entry) {
  if (entry.changed) return;
  entry.changed = true;
  changed_.push_back(&entry);
}

Seq Streams::next(const Topic& topic, const AgentName& from, const AgentName& to, Lane lane) {
  Entry& stream = entry(topic, from, to, lane);
  stream.stream.last = Seq{stream.stream.last.value() + 1};
  use(stream);
  mark(stream);
  return stream.stream.last;
}

void Streams::acknowledged(const Topic& topic, const AgentName& from, const AgentName& to, Lane lane, Seq seq) {
  const auto place = entries_.find(key_of(key_, topic, from, to, lane));
  if (place == entries_.end() || seq <= place->second.stream.acked) return;  // it may be forgotten by now
  auto& stream = place->second.stream;
  stream.acked = seq;
  stream.last = std::max(stream.last, seq);
  mark(place->second);
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
  std::ranges::sort(streams, {},
                    [](const records::Stream& s) { return std::tuple{s.topic, s.from, lane_code(s.lane)}; });
  return streams;
}

}  // namespace relay::broker
