/// The text and thinking blocks that an agent is still writing, cut into deltas.
///
/// Why: a transcript has a block once it is complete. Some agents also stream its chunks while the model writes them
///   (OpenCode's server, Claude Code's MessageDisplay hook). A block is one item, whichever source comes first.
/// Invariants
/// - The concatenated deltas of a block are a prefix of its text; no part is in two of them.
/// - A delta ends at a line end or has at least kMinDeltaBytes, so a single token is not an event.
/// - Memory is bounded: kMaxBlocks blocks of kMaxContentBytes, kMaxFinished ids and heads of finished blocks.
/// Pure; one thread.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "events/work_events.h"

namespace relay::activity {

inline constexpr std::size_t kMinDeltaBytes = 256;

/// The part of `text` behind `emitted` bytes that is due as a delta: whole lines, or everything once it is long enough.
std::string_view due_delta(std::string_view text, std::size_t emitted);

class StreamedBlocks {
 public:
  static constexpr std::size_t kMaxBlocks = 16;
  static constexpr std::size_t kMaxFinished = 64;

  struct Block {
    events::ItemType type{};
    std::string id = {};      // the agent's own
    std::string item = {};    // of the events; empty until the owner has named it
    std::string text = {};    // so far; never more than an item may hold
    std::size_t emitted = 0;  // bytes of it that were emitted as deltas
    WallMs since = 0;
  };

  /// The block that a piece belongs to, with the piece appended. Null when that block is finished already, or was
  /// emitted whole before its first piece arrived. The pointer holds until the next call.
  Block* append(events::ItemType type, std::string_view id, std::string_view piece);
  /// Removes and returns the block with the whole text `text`: the one with that id, else the oldest that `text`
  /// continues.
  std::optional<Block> finish(events::ItemType type, std::string_view id, std::string_view text);
  /// Records a block that was emitted whole and had no pieces.
  void note_whole(events::ItemType type, std::string_view id, std::string_view text);
  /// Removes and returns every open block, oldest first.
  std::deque<Block> take_all();

 private:
  struct Finished {
    events::ItemType type{};
    std::string id = {};
    std::string head = {};  // the start of its text, when it had no pieces
  };
  void remember(Finished finished);

  std::deque<Block> open_;
  std::deque<Finished> finished_;
};

}  // namespace relay::activity
