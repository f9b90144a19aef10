#include "api/events/feed_group.h"

#include <algorithm>

namespace relay::api {

void BlockWriter::add(const FeedEvent& event) {
  ++events_;
  append_event(text_, dialect_, event);
  if (dialect_ == StreamFormat::Sse) return;
  bytes_ += text_.size();
  pieces_.push_back(net::make_piece(std::exchange(text_, {})));
}

std::vector<net::SharedBuffer> BlockWriter::take() {
  if (!text_.empty()) pieces_.push_back(net::make_piece(std::exchange(text_, {})));
  return std::move(pieces_);
}

FeedGroup::FeedGroup(EventSubscription wish, StreamFormat dialect)
    : wish_{std::move(wish)}, filter_{wish_.types, wish_.agents, wish_.sessions}, dialect_{dialect} {
  wish_.after.reset();
}

bool FeedGroup::is_for(const EventSubscription& wish, StreamFormat dialect) const {
  return dialect == dialect_ && wish.types == wish_.types && wish.agents == wish_.agents &&
         wish.sessions == wish_.sessions && wish.since == wish_.since;
}

bool FeedGroup::Block::alive() const {
  return std::ranges::none_of(pieces, [](const auto& piece) { return piece.expired(); });
}

FeedGroup::BlockRange FeedGroup::give(const FeedRing& ring, std::uint64_t from, std::uint64_t until,
                                      std::size_t block_bytes, FeedSink& outlet) {
  const auto known = std::ranges::find(blocks_, from, &Block::from);
  if (known != blocks_.end() && known->given.to > from && known->alive()) {
    for (const auto& piece : known->pieces) outlet.write(piece.lock());
    return known->given;
  }
  BlockWriter writer{dialect_};
  auto to = from;
  while (to < until && writer.bytes() < block_bytes) {
    const auto& event = ring.at(++to);
    if (event.at >= wish_.since.value_or(0) && filter_.takes(event.type, event.agent, event.session)) writer.add(event);
  }
  auto& block = known != blocks_.end() ? *known : blocks_[oldest_ = (oldest_ + 1) % blocks_.size()];
  block = {from, {to, writer.events()}, {}};
  for (auto& piece : writer.take()) {
    block.pieces.push_back(piece);
    outlet.write(std::move(piece));
  }
  return block.given;
}

}  // namespace relay::api
