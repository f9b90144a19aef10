/// The numbers of every stream (topic, from → to, lane): durable, never reused, never reset.
///
/// Why streams are forgotten: a sender may use any number of topics. At `max_topics` its idle streams are forgotten,
///   least recently used first: those with all numbers acknowledged, and those towards a recipient without pending
///   deliveries. No delivery refers to them, and a resumed session needs none of their deliveries again. The highest
///   number of the forgotten streams of a pair and lane remains as a mark, and new streams of that pair start after it.
/// Invariants: a number of a stream is assigned once, even after the stream was forgotten; a stream with an unsaved change or
///   without a topic is not forgotten.
/// Threading: the broker's.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "records/records.h"

namespace relay::broker {

class Streams {
 public:
  using Lane = protocol::Lane;

  /// At most `max_topics` streams with a topic per sender.
  explicit Streams(std::size_t max_topics) : max_topics_{max_topics} {}
  Streams(const Streams&) = delete;  // entries point at each other
  Streams& operator=(const Streams&) = delete;

  void restore(records::Stream stream);
  /// Called before the streams of its pair are restored.
  void restore_mark(const records::Stream& mark);

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] bool contains(const Topic& topic, const AgentName& from, const AgentName& to, Lane lane) const;

  /// True if this recipient has no pending deliveries.
  using Idle = std::function<bool(const AgentName& to)>;
  /// Forgets idle streams of the sender until there is room for `streams` more with a topic; false when there is none.
  bool make_room(const AgentName& from, std::size_t streams, const Idle& idle);
  /// The same for the streams of all senders, until at most `max` are left or no idle one is found.
  void shrink_to(std::size_t max, const Idle& idle);
  /// Streams that were forgotten since the last call; they belong to the open batch.
  std::vector<records::Stream> take_forgotten() { return std::exchange(forgotten_, {}); }

  /// The next number of the stream.
  Seq next(const Topic& topic, const AgentName& from, const AgentName& to, Lane lane);
  /// Its numbers were not stored: they belong to the next commit.
  void touch(const Topic& topic, const AgentName& from, const AgentName& to, Lane lane) {
    mark(entry(topic, from, to, lane));
  }
  /// The recipient acknowledged this number.
  void acknowledged(const Topic& topic, const AgentName& from, const AgentName& to, Lane lane, Seq seq);

  /// Streams whose numbers changed since the last call; they belong to the open batch.
  std::vector<records::Stream> take_changed();

  /// All streams towards one agent.
  [[nodiscard]] std::vector<records::Stream> towards(const AgentName& to) const;

 private:
  struct Entry {
    records::Stream stream;
    bool changed = false;
    Entry* older = nullptr;  // of the sender's streams with a topic, by use
    Entry* newer = nullptr;
  };
  struct Sender {
    std::size_t count = 0;
    Entry* oldest = nullptr;
    Entry* newest = nullptr;
  };
  Entry& entry(const Topic& topic, const AgentName& from, const AgentName& to, Lane lane);
  void mark(Entry& entry);
  void link(Entry& entry);
  void unlink(Entry& entry);
  void use(Entry& entry);
  void forget(Entry& entry);
  [[nodiscard]] static bool can_forget(const Entry& entry, const Idle& idle) {
    return !entry.changed && (entry.stream.acked == entry.stream.last || idle(entry.stream.to));
  }

  std::size_t max_topics_;
  std::unordered_map<std::string, Entry> entries_;
  std::unordered_map<std::string, Sender> senders_;  // of streams with a topic
  std::unordered_map<std::string, Seq> marks_;       // by pair and lane
  mutable std::string key_;      // buffer of the lookup key, reused because there are two lookups per delivery
  std::vector<Entry*> changed_;  // node-based map: entries do not move
  std::vector<records::Stream> forgotten_;
};

}  // namespace relay::broker
