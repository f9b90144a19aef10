/// Claude Code: `~/.claude/projects/<directory>/<session>.jsonl`, one row per block of a reply.
///
/// A reply of the model spans several rows with the same message.id and requestId, each with the usage so far;
/// rows are identified by `uuid`. docs/agents.md has the measurements.
#include <algorithm>
#include <array>

#include "base/format.h"
#include "transcripts/dedup_cache.h"
#include "transcripts/fields.h"
#include "transcripts/limits.h"
#include "transcripts/line_reader.h"
#include "transcripts/reader.h"

namespace relay::transcripts {
namespace {

/// Rows about the program itself: settings, titles, backups, requests on the wire.
constexpr auto kIgnoredRows = std::to_array<std::string_view>(
    {"agent-name",  "agent-setting", "ai-title",        "api-request",   "api-request-blob",   "api-request-shape",
     "atis-latch",  "continued-in",  "cost-state",      "custom-title",  "file-history-delta", "file-history-snapshot",
     "last-prompt", "mode",          "permission-mode", "pr-link",       "progress",           "summary",
     "tag",         "task-summary",  "tools-used",      "worktree-state"});

constexpr std::string_view kInterrupted = "[Request interrupted by user";
constexpr std::string_view kSynthetic = "<synthetic>";  // the model name of messages that the program generates

class ClaudeReader final : public LineReader {
 public:
  void restart() override { turn_.clear(); }

 private:
  void read_object(const json::object& row) override {
    const auto type = short_string(row, "type");
    if (std::ranges::find(kIgnoredRows, type) != kIgnoredRows.end()) return;
    emit_session(row);
    const auto id = short_string(row, "uuid");
    if (!id.empty() && !rows_.at(id).second) return;
    if (type == "assistant")
      read_assistant(row, id);
    else if (type == "user")
      read_user(row, id);
    else if (type == "attachment")
      read_attachment(row, id);
    else if (type == "queue-operation")
      entries_.push_back(Queued{.text = long_string(row, "content"),
                                .waiting = short_string(row, "operation") == "enqueue",
                                .reason = short_string(row, "reason")});
    else if (type == "system")
      read_system(row);
    else
      emit_unknown(type, "a row of an unknown type");
  }

  void emit_session(const json::object& row) {
    auto session = short_string(row, "sessionId");
    if (session.empty() || session == session_) return;
    session_ = session;
    entries_.push_back(SessionInfo{.id = std::move(session), .working_directory = long_string(row, "cwd")});
  }

  void read_assistant(const json::object& row, const std::string& id) {
    const auto* message = object_member(row, "message");
    if (message == nullptr) return emit_unknown("assistant", "it has no message");
    if (is_true(row, "isApiErrorMessage")) return read_failure(row, *message, id);
    if (short_string(*message, "model") == kSynthetic) return;
    if (!is_true(row, "isSidechain")) read_blocks(row, *message, id);
    read_usage(row, *message);
  }

  void read_blocks(const json::object& row, const json::object& message, const std::string& id) {
    const auto* blocks = array_member(message, "content");
    if (blocks == nullptr) return emit_unknown("assistant", "its content is not a list of blocks");
    const bool whole = !is_true(row, "isAbortedMidStream");
    for (std::size_t at = 0; at < std::min(blocks->size(), kMaxEntriesPerLine); ++at) {
      if (!(*blocks)[at].is_object()) continue;
      const auto& block = (*blocks)[at].get_object();
      const auto type = short_string(block, "type");
      const auto block_id = at == 0 ? id : relay::format("{}/{}", id, at);
      if (type == "text")
        emit_text(block_id, block, whole);
      else if (type == "thinking")
        entries_.push_back(Thought{.id = block_id, .text = long_string(block, "thinking")});
      else if (type == "tool_use" || type == "server_tool_use" || type == "mcp_tool_use")
        entries_.push_back(
            make_tool_call(short_string(block, "id"), short_string(block, "name"), block.if_contains("input")));
      else if (type != "redacted_thinking" && !type.ends_with("_tool_result"))
        emit_unknown(type, "a block of an unknown kind");
    }
  }

  void emit_text(const std::string& id, const json::object& block, bool whole) {
    Text text{.id = id, .text = long_string(block, "text"), .whole = whole};
    text.whole = whole && text.text.size() < kMaxText;
    entries_.push_back(std::move(text));
  }

  void read_usage(const json::object& row, const json::object& message) {
    const auto* counts = object_member(message, "usage");
    if (counts == nullptr) return;
    TokenUsage usage{.id = relay::format("{}/{}", short_string(message, "id"), short_string(row, "requestId")),
                     .model = short_string(message, "model"),
                     .input = count_member(*counts, "input_tokens"),
                     .cache_read = count_member(*counts, "cache_read_input_tokens"),
                     .cache_write = count_member(*counts, "cache_creation_input_tokens"),
                     .output = count_member(*counts, "output_tokens")};
    if (const auto* details = object_member(*counts, "output_tokens_details"))
      usage.reasoning = count_member(*details, "thinking_tokens");
    auto& previous = usages_.at(usage.id).first;
    if (previous == usage) return;
    previous = usage;
    entries_.push_back(std::move(usage));
  }

  void read_failure(const json::object& row, const json::object& message, const std::string& id) {
    if (is_true(row, "isSidechain")) return;
    const auto status = integer_member(row, "apiErrorStatus").value_or(0);
    auto code = short_string(row, "error");
    const auto kind = classify_failure(code, status);
    entries_.push_back(TurnFailure{
        .id = id, .kind = kind, .code = std::move(code), .text = content_text(message, "content"), .status = status});
    end_turn(TurnOutcome::Failed);
  }

  void read_user(const json::object& row, const std::string& id) {
    if (is_true(row, "isSidechain")) return;
    const auto* message = object_member(row, "message");
    if (message == nullptr) return emit_unknown("user", "it has no message");
    bool has_results = false;
    if (const auto* blocks = array_member(*message, "content")) {
      if (const auto* outcome = object_member(row, "toolUseResult")) read_outcome(*blocks, *outcome);
      has_results = read_results(*blocks);
    }
    auto text = content_text(*message, "content");
    if (text.starts_with(kInterrupted) || row.contains("interruptedMessageId"))
      return end_turn(TurnOutcome::Interrupted);
    if (text.empty() && has_results) return;
    // Without an origin, text in tags concerns commands to the program itself: `<command-name>/compact`.
    const bool by_program =
        is_true(row, "isMeta") || is_true(row, "isCompactSummary") || has_results || text.starts_with('<');
    ModelInput prompt{.id = id, .text = std::move(text)};
    emit_origin(prompt, object_member(row, "origin"), by_program);
    if (row.contains("turnPosition") || prompt.origin == Origin::User) start_turn(row);
    entries_.push_back(std::move(prompt));
  }

  bool read_results(const json::array& blocks) {
    bool any = false;
    for (std::size_t at = 0; at < std::min(blocks.size(), kMaxEntriesPerLine); ++at) {
      if (!blocks[at].is_object()) continue;
      const auto& block = blocks[at].get_object();
      if (short_string(block, "type") != "tool_result") continue;
      any = true;
      entries_.push_back(make_tool_result(short_string(block, "tool_use_id"), content_text(block, "content"),
                                          is_true(block, "is_error")));
    }
    return any;
  }

  /// The structured result of the tool. A row has one result.
  void read_outcome(const json::array& blocks, const json::object& outcome) {
    if (blocks.size() != 1 || !blocks[0].is_object()) return;
    const auto& block = blocks[0].get_object();
    auto tool = short_string(block, "tool_use_id");
    if (outcome.contains("stdout")) {
      CommandRun command{.tool = std::move(tool),
                         .output = truncated(long_string(outcome, "stdout"), kMaxToolText),
                         .errors = truncated(long_string(outcome, "stderr"), kMaxToolText)};
      // A failed command is an error with another result; an exit code 1 that means "none" is interpreted.
      const bool ended = !is_true(outcome, "interrupted") && !outcome.contains("returnCodeInterpretation") &&
                         !outcome.contains("backgroundTaskId");
      if (ended && !is_true(block, "is_error")) command.exit_code = 0;
      entries_.push_back(std::move(command));
    } else if (const auto* patch = array_member(outcome, "structuredPatch"); patch != nullptr) {
      const bool created = short_string(outcome, "type") == "create";
      entries_.push_back(FileChange{.tool = std::move(tool),
                                    .change = created ? Change::Created : Change::Edited,
                                    .path = truncated(long_string(outcome, "filePath"), kMaxToolText),
                                    .diff = diff_of(*patch),
                                    .content = created ? long_string(outcome, "content") : std::string{}});
    }
  }

  static std::string diff_of(const json::array& hunks) {
    std::string diff;
    for (const auto& value : hunks) {
      if (!value.is_object() || diff.size() >= kMaxText) continue;
      const auto& hunk = value.get_object();
      const auto number = [&](std::string_view name) { return count_member(hunk, name).value_or(0); };
      diff += relay::format("@@ -{},{} +{},{} @@\n", number("oldStart"), number("oldLines"), number("newStart"),
                            number("newLines"));
      if (const auto* lines = array_member(hunk, "lines"))
        for (const auto& line : *lines)
          if (line.is_string() && diff.size() < kMaxText) diff.append(line.get_string()).append("\n");
    }
    return truncated(diff, kMaxText);
  }

  /// The origin of the input. Rows of older versions have none; there the program's own rows are marked as meta.
  static void emit_origin(ModelInput& prompt, const json::object* origin, bool by_program) {
    const auto kind = origin == nullptr ? std::string{} : short_string(*origin, "kind");
    if (kind == "peer") {
      prompt.origin = Origin::Peer;
      prompt.from = short_string(*origin, "from");
      prompt.message_id = short_string(*origin, "msg_id");
    } else if (kind == "human" || (kind.empty() && !by_program)) {
      prompt.origin = Origin::User;
    } else {
      prompt.origin = Origin::Program;
      prompt.from = kind;
    }
  }

  void read_attachment(const json::object& row, const std::string& id) {
    const auto* attachment = object_member(row, "attachment");
    if (attachment == nullptr || is_true(row, "isSidechain")) return;
    const auto type = short_string(*attachment, "type");
    if (type == "hook_additional_context") {
      entries_.push_back(ModelInput{.id = id,
                                    .text = content_text(*attachment, "content"),
                                    .origin = Origin::Hook,
                                    .from = short_string(*attachment, "hookEvent")});
    } else if (type == "queued_command") {
      ModelInput prompt{.id = id, .text = content_text(*attachment, "prompt")};
      emit_origin(prompt, object_member(*attachment, "origin"), short_string(*attachment, "commandMode") != "prompt");
      entries_.push_back(std::move(prompt));
    }  // the other types are the program's own context
  }

  void read_system(const json::object& row) {
    if (short_string(row, "subtype") == "turn_duration") end_turn(TurnOutcome::Done);
  }

  /// Several queued prompts become one turn: they share its index, and each has its own id.
  void start_turn(const json::object& row) {
    auto id = short_string(row, "promptId");
    const auto* position = object_member(row, "turnPosition");
    const auto index = position == nullptr ? std::nullopt : integer_member(*position, "turnIndex");
    if (id.empty() || id == turn_ || (!turn_.empty() && index && index == turn_index_)) return;
    turn_ = std::move(id);
    turn_index_ = index;
    entries_.push_back(TurnStarted{.id = turn_, .trigger = short_string(row, "turnOrigin")});
  }

  /// A failed or interrupted turn may still get a summary row; its end is reported once.
  void end_turn(TurnOutcome outcome) {
    if (turn_.empty()) return;
    entries_.push_back(TurnEnded{.id = std::exchange(turn_, {}), .outcome = outcome});
  }

  std::string session_;
  std::string turn_;  // of the open turn; empty between turns
  std::optional<std::int64_t> turn_index_;
  DedupCache<bool> rows_;
  DedupCache<TokenUsage> usages_;
};

}  // namespace

std::unique_ptr<Reader> claude_reader() { return std::make_unique<ClaudeReader>(); }

}  // namespace relay::transcripts
