#include "activity/streamed_blocks.h"

#include <algorithm>
#include <utility>

#include "text/utf8.h"

namespace relay::activity {
namespace {

constexpr std::size_t kHeadBytes = 128;

}  // namespace

std::string_view due_delta(std::string_view text, std::size_t emitted) {
  const auto rest = text.substr(std::min(emitted, text.size()));
  if (rest.size() >= kMinDeltaBytes) return rest;
  const auto end = rest.rfind('\n');
  return end == std::string_view::npos ? std::string_view{} : rest.substr(0, end + 1);
}

StreamedBlocks::Block* StreamedBlocks::append(events::ItemType type, std::string_view id, std::string_view piece) {
  auto block = std::ranges::find_if(open_, [&](const Block& each) { return each.type == type && each.id == id; });
  if (block == open_.end()) {
    for (auto& each : finished_) {
      if (each.type != type) continue;
      const bool emitted_whole = !each.head.empty() && each.head.starts_with(piece.substr(0, each.head.size()));
      if (emitted_whole) each = {type, std::string{id}, {}};
      if (each.id == id) return nullptr;
    }
    if (open_.size() >= kMaxBlocks) return nullptr;  // its text is emitted when it is complete
    block = open_.insert(open_.end(), {.type = type, .id = std::string{id}});
  }
  const auto room = static_cast<std::size_t>(events::kMaxContentBytes) - block->text.size();
  block->text += text::truncate_utf8(piece, room);
  return &*block;
}

std::optional<StreamedBlocks::Block> StreamedBlocks::finish(events::ItemType type, std::string_view id,
                                                            std::string_view text) {
  auto block = std::ranges::find_if(open_, [&](const Block& each) { return each.type == type && each.id == id; });
  if (block == open_.end())
    block = std::ranges::find_if(open_,
                                 [&](const Block& each) { return each.type == type && text.starts_with(each.text); });
  if (block == open_.end()) return std::nullopt;
  auto found = std::move(*block);
  open_.erase(block);
  remember({type, found.id, {}});
  return found;
}

void StreamedBlocks::note_whole(events::ItemType type, std::string_view id, std::string_view text) {
  remember({type, std::string{id}, std::string{text.substr(0, kHeadBytes)}});
}

std::deque<StreamedBlocks::Block> StreamedBlocks::take_all() {
  for (const auto& block : open_) remember({block.type, block.id, {}});
  return std::exchange(open_, {});
}

void StreamedBlocks::remember(Finished finished) {
  finished_.push_back(std::move(finished));
  if (finished_.size() > kMaxFinished) finished_.pop_front();
}

}  // namespace relay::activity
