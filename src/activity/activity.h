/// What an agent's record says, made into events: what it says, thinks and does, and what that cost.
///
///     transcripts::Entry, and when ──▶ Activity ──▶ item.started, item.delta, item.completed, command.executed,
///                                                   file.operation, tokens.used, agent.unparsed
///
/// A text or a thought begins when the model was given its input, or when the block before it ended; it ends when the record
/// holds it whole. Where the agent offers the pieces in between (Piece), they are deltas as they come. A tool call is open
/// until its result stands there, or its turn has ended without one; then it failed. What a tool did is told between its
/// beginning and its end: as the record tells it (Command, FileChange), else by what it was given and answered.
///
/// Invariants
/// - Every item that began is completed once; nothing is told of an item after its end.
/// - Every event keeps to its table (events/), whatever stands in the record; contents are cut, never left out.
/// - Memory is bounded: kMaxOpen calls, each with what it was given and what it printed; blocks as streamed_blocks.h says.
/// Pure; one thread. It does not know who the agent is: `agentName` is left to whoever does.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "activity/streamed_blocks.h"
#include "activity/tools.h"
#include "events/event.h"
#include "transcripts/entry.h"

namespace relay::activity {

inline constexpr std::size_t kMaxOpen = 64;                      // calls of tools; an agent makes a few at once
inline constexpr std::size_t kMaxPrintedBytes = 8 * 1024;        // of a command; its item has more
inline constexpr std::size_t kMaxInputBytes = 16 * 1024;         // of a tool, in the metadata of its item
inline constexpr std::string_view kInterrupted = "interrupted";  // the reason of a call that a person broke off
inline constexpr std::size_t kMaxUnparsed = 32;                  // told of one record

struct TimedEvent {
  events::Event event;
  WallMs at = 0;
};
using TimedEvents = std::vector<TimedEvent>;

/// A piece of a block that the model is writing.
struct Piece {
  events::ItemType type = events::ItemType::Message;  // or Thinking
  std::string_view id = {};                           // of the block, as the agent calls it
  std::string_view text = {};
};

class Activity {
 public:
  /// `source`: how it is known, for tokens.used and agent.unparsed: `transcript`, `server`.
  explicit Activity(std::string_view source) : source_{source} {}

  TimedEvents take(const transcripts::Entry& entry, WallMs at);
  TimedEvents take(const Piece& piece, WallMs at);
  /// `so_far`: all that a tool that still runs has printed.
  TimedEvents take_output(std::string_view tool, std::string_view so_far, WallMs at);
  /// Nothing more will come of what is open, and why: the agent is gone, or follows another record.
  TimedEvents end(std::string_view why, WallMs at);

 private:
  struct Open {
    std::string id;    // of the tool call
    std::string item;  // of the event
    const ToolKind* kind;
    std::string input;
    WallMs since = 0;
    bool told = false;         // what it did is told already
    bool failed = false;       // its command ended with another exit code than 0
    std::string printed = {};  // of its output, what is told already
  };

  void on(const transcripts::SessionInfo&) { close_all("another session began"); }
  void on(const transcripts::Text& text);
  void on(const transcripts::Thought& thought);
  void on(const transcripts::ModelInput&) { block_since_ = at_; }
  void on(const transcripts::Queued&) {}
  void on(const transcripts::ToolCall& tool);
  void on(const transcripts::ToolResult& result);
  void on(const transcripts::CommandRun& command);
  void on(const transcripts::FileChange& change);
  void on(const transcripts::TokenUsage& usage);
  void on(const transcripts::Limit&) {}
  void on(const transcripts::TurnFailure&) {}
  void on(const transcripts::TurnStarted&) { block_since_ = at_; }
  void on(const transcripts::TurnEnded& turn);
  void on(const transcripts::Unknown& unknown);

  void say(events::Event event) { said_.push_back({std::move(event), at_}); }
  void emit_block(events::ItemType type, const std::string& id, std::string_view text);
  void emit_output(Open& open, std::string_view text);
  void emit_delta(const std::string& item, events::DeltaType type, std::string_view text);
  void close_block(const StreamedBlocks::Block& block, std::string_view reason);
  [[nodiscard]] WallMs block_start() const { return block_since_ > 0 && block_since_ < at_ ? block_since_ : at_; }
  std::string find_item(events::ItemType type, const std::string& id);
  void emit_tool_effect(const Open& open, const transcripts::ToolResult& result);
  void emit_command(const transcripts::CommandRun& command);
  void emit_change(const transcripts::FileChange& change, bool written);
  void complete(const Open& open, bool failed, std::string_view reason);
  void close_all(std::string_view reason);
  Open* find_open(std::string_view id);

  std::string source_;
  std::deque<Open> open_;
  StreamedBlocks blocks_;
  WallMs block_since_ = 0;      // since when the model writes its next block; 0: it has nothing to answer
  std::string last_block_;      // whose id may come again, with what was added
  std::uint64_t repeated_ = 0;  // times it did
  std::uint64_t nameless_ = 0;  // items without an id of their own
  std::size_t unparsed_ = 0;
  WallMs at_ = 0;     // of the entry at hand
  TimedEvents said_;  // for the entry at hand
};

}  // namespace relay::activity
