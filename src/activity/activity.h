/// Turns the entries of an agent's transcript into events: output, reasoning, tool calls and usage.
///
///     transcripts::Entry, and when ──▶ Activity ──▶ item.started, item.delta, item.completed, command.executed,
///                                                   file.operation, tokens.used, agent.unparsed
///
/// A text or a thought starts when the model got its input, or when the block before it ended; it ends when the
/// transcript has it complete. If the agent streams chunks in between (TextChunk), they become deltas. A tool call is
/// open until its result is recorded, or its turn ended without one; then it failed. The effect of a tool is emitted
/// between start and end: from the transcript's own record (CommandRun, FileChange), else from input and result.
///
/// Invariants
/// - Every started item is completed once; no event of an item follows its end.
/// - Every event conforms to its table (events/) for any transcript; contents are cut, never dropped.
/// - Memory is bounded: kMaxOpen calls, each with its input and output; blocks as in streamed_blocks.h.
/// Pure; one thread. It does not depend on the agent: the caller sets `agentName`.
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

inline constexpr std::size_t kMaxOpen = 64;                      // tool calls; an agent makes a few at once
inline constexpr std::size_t kMaxOutputBytes = 8 * 1024;         // of a command; its item has more
inline constexpr std::size_t kMaxInputBytes = 16 * 1024;         // of a tool, in the metadata of its item
inline constexpr std::string_view kInterrupted = "interrupted";  // the reason of a call that the user interrupted
inline constexpr std::size_t kMaxUnparsed = 32;                  // reported per transcript

struct TimedEvent {
  events::Event event;
  WallMs at = 0;
};
using TimedEvents = std::vector<TimedEvent>;

/// A chunk of a block that the model is writing.
struct TextChunk {
  events::ItemType type = events::ItemType::Message;  // or Thinking
  std::string_view id = {};                           // the agent's id of the block
  std::string_view text = {};
};

class Activity {
 public:
  /// `source` is reported in tokens.used and agent.unparsed: `transcript`, `server`.
  explicit Activity(std::string_view source) : source_{source} {}

  TimedEvents take(const transcripts::Entry& entry, WallMs at);
  TimedEvents take(const TextChunk& piece, WallMs at);
  /// `so_far`: all output of a tool that still runs.
  TimedEvents take_output(std::string_view tool, std::string_view so_far, WallMs at);
  /// Fails all open items with this reason: the agent has ended, or follows another transcript.
  TimedEvents end(std::string_view reason, WallMs at);

 private:
  struct Open {
    std::string id;    // of the tool call
    std::string item;  // of the event
    const ToolKind* kind;
    std::string input;
    WallMs since = 0;
    bool effect_emitted = false;  // its command or file event is emitted
    bool failed = false;          // its command ended with an exit code other than 0
    std::string printed = {};     // the output emitted so far
  };

  void on(const transcripts::SessionInfo&) { close_all("another session started"); }
  void on(const transcripts::Text& text);
  void on(const transcripts::Thought& thought);
  void on(const transcripts::ModelInput&) { block_started_at_ = at_; }
  void on(const transcripts::Queued&) {}
  void on(const transcripts::ToolCall& tool);
  void on(const transcripts::ToolResult& result);
  void on(const transcripts::CommandRun& command);
  void on(const transcripts::FileChange& change);
  void on(const transcripts::TokenUsage& usage);
  void on(const transcripts::Limit&) {}
  void on(const transcripts::TurnFailure&) {}
  void on(const transcripts::TurnStarted&) { block_started_at_ = at_; }
  void on(const transcripts::TurnEnded& turn);
  void on(const transcripts::Unknown& unknown);

  void emit(events::Event event) { emitted_.push_back({std::move(event), at_}); }
  void emit_block(events::ItemType type, const std::string& id, std::string_view text);
  void emit_output(Open& open, std::string_view text);
  void emit_delta(const std::string& item, events::DeltaType type, std::string_view text);
  void close_block(const StreamedBlocks::Block& block, std::string_view reason);
  [[nodiscard]] WallMs block_start() const {
    return block_started_at_ > 0 && block_started_at_ < at_ ? block_started_at_ : at_;
  }
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
  WallMs block_started_at_ = 0;  // since when the model writes its next block; 0: it has no input
  std::string last_block_;       // its id may occur again with appended text
  std::uint64_t repeated_ = 0;   // number of occurrences
  std::uint64_t nameless_ = 0;   // items without an id
  std::size_t unparsed_ = 0;
  WallMs at_ = 0;        // of the current entry
  TimedEvents emitted_;  // for the current entry
};

}  // namespace relay::activity
