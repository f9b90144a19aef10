/// The last received number of each incoming stream, by which a duplicate delivery is recognized.
///
/// The daemon numbers (topic, from → to, lane) durably and forever, so one number per stream distinguishes new from
/// old, even across sessions. Numbers may have gaps (a delivery expired or was cancelled); they never decrease.
/// Invariants: at most kMaxStreams are stored; beyond that the least recently used stream is dropped.
/// Threading: one thread.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "protocol/delivery_mode.h"

namespace relay::client {

inline constexpr std::size_t kMaxStreams = 65'536;

/// The last received number of one stream.
struct StreamPosition {
  std::string topic;
  std::string from;
  std::uint64_t seq = 0;
  protocol::Lane lane = {};

  friend bool operator==(const StreamPosition&, const StreamPosition&) = default;
};

/// One delivery: its wire id, its stream and its number there. A requeued or moved delivery retains its id and gets
/// another number.
struct DeliveryRef {
  std::string id = {};
  std::string topic = {};
  std::string from = {};
  std::uint64_t seq = 0;
  protocol::Lane lane = {};
  std::uint32_t attempt = 1;  // one more than the failed attempts

  friend bool operator==(const DeliveryRef&, const DeliveryRef&) = default;
};

class StreamPositions {
 public:
  explicit StreamPositions(std::size_t max_streams = kMaxStreams) : max_streams_{max_streams} {}

  /// Records a new number; false if this or a later one was recorded before.
  bool advance(std::string_view topic, std::string_view from, protocol::Lane lane, std::uint64_t seq);

  [[nodiscard]] std::uint64_t last(std::string_view topic, std::string_view from, protocol::Lane lane) const;
  [[nodiscard]] std::vector<StreamPosition> all() const;
  [[nodiscard]] std::size_t size() const { return by_age_.size(); }

 private:
  using Stream = std::tuple<std::string, std::string, protocol::Lane>;  // topic, from, lane
  using StreamView = std::tuple<std::string_view, std::string_view, protocol::Lane>;
  struct Before {
    using is_transparent = void;
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return StreamView{a} < StreamView{b};
    }
  };

  std::size_t max_streams_;
  std::list<StreamPosition> by_age_;  // most recently used first
  std::map<Stream, std::list<StreamPosition>::iterator, Before> by_stream_;
};

}  // namespace relay::client
