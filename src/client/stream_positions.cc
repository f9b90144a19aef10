#include "client/stream_positions.h"

namespace relay::client {

bool StreamPositions::advance(std::string_view topic, std::string_view from, protocol::Lane lane, std::uint64_t seq) {
  const auto found = by_stream_.find(StreamView{topic, from, lane});
  if (found != by_stream_.end()) {
    if (seq <= found->second->seq) return false;
    found->second->seq = seq;
    by_age_.splice(by_age_.begin(), by_age_, found->second);
    return true;
  }
  by_age_.push_front({std::string{topic}, std::string{from}, seq, lane});
  by_stream_.emplace(Stream{topic, from, lane}, by_age_.begin());
  if (by_age_.size() > max_streams_) {
    const auto& silent = by_age_.back();
    by_stream_.erase(by_stream_.find(StreamView{silent.topic, silent.from, silent.lane}));
    by_age_.pop_back();
  }
  return true;
}

std::uint64_t StreamPositions::last(std::string_view topic, std::string_view from, protocol::Lane lane) const {
  const auto found = by_stream_.find(StreamView{topic, from, lane});
  return found == by_stream_.end() ? 0 : found->second->seq;
}

std::vector<StreamPosition> StreamPositions::all() const { return {by_age_.rbegin(), by_age_.rend()}; }

}  // namespace relay::client
