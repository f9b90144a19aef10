#include "api/events/feed_group.h"

#include <algorithm>

namespace relay::api {

void BlockWriter::add(const FeedEvent& event) {
  ++events_;
  append_event(text_, stream_format_, event);
  if (stream_format_ == StreamFormat::Sse) return;
  bytes_ += text_.size();
  buffers_.push_back(net::make_shared_buffer(std::exchange(text_, {})));
}

std::vector<net::SharedBuffer> BlockWriter::take() {
  if (!text_.empty()) buffers_.push_back(net::make_shared_buffer(std::exchange(text_, {})));
  return std::move(buffers_);
}

FeedGroup::FeedGroup(EventSubscription subscription, StreamFormat stream_format)
    : subscription_{std::move(subscription)},
      filter_{subscription_.types, subscription_.agents, subscription_.sessions},
      stream_format_{stream_format} {
  subscription_.after.reset();
}

bool FeedGroup::matches(const EventSubscription& subscription, StreamFormat stream_format) const {
  return stream_format == stream_format_ && subscription.types == subscription_.types &&
         subscription.agents == subscription_.agents && subscription.sessions == subscription_.sessions &&
         subscription.since == subscription_.since;
}

bool FeedGroup::Block::is_alive() const {
  return std::ranges::none_of(buffers, [](const auto& buffer) { return buffer.expired(); });
}

FeedGroup::BlockRange FeedGroup::write_events(const FeedRing& ring, std::uint64_t from, std::uint64_t until,
                                              std::size_t block_bytes, FeedSink& sink) {
  const auto found = std::ranges::find(blocks_, from, &Block::from);
  if (found != blocks_.end() && found->range.to > from && found->is_alive()) {
    for (const auto& buffer : found->buffers) sink.write(buffer.lock());
    return found->range;
  }
  BlockWriter writer{stream_format_};
  auto to = from;
  while (to < until && writer.bytes() < block_bytes) {
    const auto& event = ring.at(++to);
    if (event.at >= subscription_.since.value_or(0) && filter_.matches(event.type, event.agent, event.session))
      writer.add(event);
  }
  auto& block = found != blocks_.end() ? *found : blocks_[oldest_ = (oldest_ + 1) % blocks_.size()];
  block = {from, {to, writer.events()}, {}};
  for (auto& buffer : writer.take()) {
    block.buffers.push_back(buffer);
    sink.write(std::move(buffer));
  }
  return block.range;
}

}  // namespace relay::api
