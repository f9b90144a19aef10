/// The numbers of every stream (topic, from → to, lane): durable, never reused, never reset.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "records/records.h"

namespace relay::broker {

class Streams {
 public:
  using Lane = protocol::Lane;

  void restore(records::Stream stream);

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] bool contains(const Topic& topic, const AgentName& from, const AgentName& to, Lane lane) const;

  /// The next number of the stream.
  Seq next(const Topic& topic, const AgentName& from, const AgentName& to, Lane lane);
  /// Its numbers were not stored after all: they belong into the next commit.
  void touch(const Topic& topic, const AgentName& from, const AgentName& to, Lane lane) {
    mark(entry(topic, from, to, lane));
  }
  /// The recipient acknowledged this number.
  void acknowledged(const Topic& topic, const AgentName& from, const AgentName& to, Lane lane, Seq seq);

  /// Streams whose numbers changed since the last call; they belong into the commit that is being gathered.
  std::vector<records::Stream> take_changed();

  /// All streams towards one agent.
  [[nodiscard]] std::vector<records::Stream> towards(const AgentName& to) const;

 private:
  struct Entry {
    records::Stream stream;
    bool changed = false;
  };
  Entry& entry(const Topic& topic, const AgentName& from, const AgentName& to, Lane lane);
  void mark(Entry& entry);

  std::unordered_map<std::string, Entry> entries_;
  mutable std::string key_;      // of the one that is looked for; kept, because there are two looks per delivery
  std::vector<Entry*> changed_;  // node-based map: entries do not move
};

}  // namespace relay::broker
