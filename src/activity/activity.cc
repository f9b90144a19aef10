#include "activity/activity.h"

#include <algorithm>
#include <utility>

#include "activity/commands.h"
#include "activity/diff.h"
#include "activity/outcome.h"
#include "activity/patch.h"
#include "base/format.h"
#include "base/hash.h"
#include "text/utf8.h"

namespace relay::activity {
namespace {

using events::FileOperationKind;
using events::ItemType;
using transcripts::Change;

constexpr std::size_t kMaxIdBytes = 200;  // with prefix and number it fits an itemId
constexpr std::size_t kMaxPathBytes = 4096;
constexpr std::size_t kMaxWordBytes = 256;

std::string cut(std::string_view text, std::size_t limit) { return std::string{text::truncate_utf8(text, limit)}; }
std::string content(std::string_view text) { return cut(text, events::kMaxContentBytes); }

std::optional<std::string> shortened_output(std::string_view text) {
  if (text.empty()) return std::nullopt;
  return cut(text, kMaxOutputBytes);
}

ItemType type_of(const ToolKind& kind, std::string_view input) {
  switch (kind.use) {
    case ToolCategory::Shell:
    case ToolCategory::Script: return item_type_of(subject_of(kind, input));
    case ToolCategory::Search: return ItemType::Search;
    case ToolCategory::Plan: return ItemType::Plan;
    case ToolCategory::Read:
    case ToolCategory::Write:
    case ToolCategory::Edit:
    case ToolCategory::Patch:
    case ToolCategory::Other: break;
  }
  return ItemType::ToolCall;
}

json::object metadata_of(const transcripts::ToolCall& tool) {
  json::object about{{"tool", tool.name}};
  auto input = tool.input.size() <= kMaxInputBytes && !tool.cut ? parse_json(tool.input) : fail("too long");
  if (input && !input->is_null())
    about["input"] = *std::move(input);
  else if (!tool.input.empty())
    about["input"] = cut(tool.input, kMaxInputBytes);
  if (tool.cut || tool.input.size() > kMaxInputBytes) about["cut"] = true;
  return about;
}

bool changes_files(ToolCategory use) {
  return use == ToolCategory::Write || use == ToolCategory::Edit || use == ToolCategory::Patch;
}

/// The diff of an edit, or of several edits to one file, from the replaced text.
Diff diff_of(const ToolKind& kind, const json::object& input) {
  const auto text = [&](const json::object& edit, std::string_view name) {
    return name.empty() ? std::string{} : string_member(edit, name).value_or("");
  };
  const auto* edits = array_member(input, "edits");
  if (edits == nullptr) return diff_between(text(input, kind.before), text(input, kind.after));
  Diff all;
  for (const auto& edit : *edits) {
    if (!edit.is_object()) continue;
    const auto one = diff_between(text(edit.get_object(), kind.before), text(edit.get_object(), kind.after));
    all.lines_changed += one.lines_changed;
    if (all.text.size() < events::kMaxContentBytes) all.text += one.text;
  }
  all.text = content(all.text);
  return all;
}

void set_diff(events::FileOperation& operation, Diff diff) {
  if (diff.text.empty()) return;
  operation.lines_changed = diff.lines_changed;
  operation.diff = std::move(diff.text);
}

}  // namespace

TimedEvents Activity::take(const transcripts::Entry& entry, WallMs at) {
  at_ = at;
  std::visit([this](const auto& each) { on(each); }, entry);
  return std::exchange(emitted_, {});
}

TimedEvents Activity::end(std::string_view reason, WallMs at) {
  at_ = at;
  close_all(reason);
  return std::exchange(emitted_, {});
}

TimedEvents Activity::take(const TextChunk& piece, WallMs at) {
  at_ = at;
  auto* const block = piece.text.empty() ? nullptr : blocks_.append(piece.type, piece.id, piece.text);
  if (block == nullptr) return {};
  if (block->item.empty()) {
    block->item = find_item(piece.type, block->id);
    block->since = block_start();
    emit(events::ItemStarted{.item_id = block->item, .item_type = piece.type, .started_at = block->since});
  }
  const auto due = due_delta(block->text, block->emitted);
  emit_delta(block->item, events::DeltaType::Text, due);
  block->emitted += due.size();
  return std::exchange(emitted_, {});
}

TimedEvents Activity::take_output(std::string_view tool, std::string_view so_far, WallMs at) {
  at_ = at;
  auto* const open = find_open(tool);
  if (open == nullptr || !so_far.starts_with(open->printed)) return {};
  emit_output(*open, due_delta(content(so_far), open->printed.size()));
  return std::exchange(emitted_, {});
}

void Activity::on(const transcripts::Text& text) { emit_block(ItemType::Message, text.id, text.text); }
void Activity::on(const transcripts::Thought& thought) { emit_block(ItemType::Thinking, thought.id, thought.text); }

void Activity::emit_block(ItemType type, const std::string& id, std::string_view text) {
  if (text.empty()) return;
  const auto visible = content(text);
  auto block = blocks_.finish(type, id, text);
  if (block && !visible.starts_with(std::string_view{block->text}.substr(0, block->emitted))) {
    close_block(*block, "the transcript has another text");
    block.reset();
  }
  if (!block) {
    block = {.type = type, .id = id, .item = find_item(type, id), .since = block_start()};
    blocks_.note_whole(type, id, text);
    emit(events::ItemStarted{.item_id = block->item, .item_type = type, .started_at = block->since});
  }
  emit_delta(block->item, events::DeltaType::Text, std::string_view{visible}.substr(block->emitted));
  const bool whole = visible.size() == text.size();
  emit(events::ItemCompleted{.item_id = block->item,
                             .completed_at = at_,
                             .result = whole ? std::nullopt : std::optional{json::object{{"cut", true}}},
                             .duration = std::max<std::int64_t>(0, at_ - block->since)});
  block_started_at_ = at_;
}

/// The complete block never arrived: emits the received part and fails the item.
void Activity::close_block(const StreamedBlocks::Block& block, std::string_view reason) {
  if (block.item.empty()) return;
  emit_delta(block.item, events::DeltaType::Text, std::string_view{block.text}.substr(block.emitted));
  emit(events::ItemCompleted{.item_id = block.item,
                             .completed_at = at_,
                             .result = json::object{{"failed", true}, {"reason", reason}},
                             .duration = std::max<std::int64_t>(0, at_ - block.since)});
}

void Activity::emit_delta(const std::string& item, events::DeltaType type, std::string_view text) {
  if (!text.empty()) emit(events::ItemDelta{.item_id = item, .delta = {.type = type, .content = content(text)}});
}

void Activity::emit_output(Open& open, std::string_view text) {
  emit_delta(open.item, events::DeltaType::ToolOutput, text);
  open.printed += text;
}

/// Gemini appends to a text under its old id: the appended part is a separate item.
std::string Activity::find_item(ItemType type, const std::string& id) {
  const std::string_view prefix = type == ItemType::Thinking ? "t" : "m";
  if (id.empty()) return format("{}-{}", prefix, ++nameless_);
  auto name = format("{}-{}", prefix, id.size() <= kMaxIdBytes ? id : sha256_hex(id));
  repeated_ = name == last_block_ ? repeated_ + 1 : 0;
  last_block_ = name;
  return repeated_ == 0 ? name : format("{}.{}", name, repeated_ + 1);
}

void Activity::on(const transcripts::ToolCall& tool) {
  if (find_open(tool.id) != nullptr) return;
  if (open_.size() >= kMaxOpen) {
    complete(open_.front(), true, "too many calls are open");
    open_.pop_front();
  }
  const auto& kind = kind_of(tool.name);
  auto item = tool.id.empty()                 ? format("c-{}", ++nameless_)
              : tool.id.size() <= kMaxIdBytes ? tool.id
                                              : sha256_hex(tool.id);
  emit(events::ItemStarted{
      .item_id = item, .item_type = type_of(kind, tool.input), .started_at = at_, .metadata = metadata_of(tool)});
  emit_delta(item, events::DeltaType::ToolInput, tool.input);
  block_started_at_ = at_;
  Open open{tool.id, std::move(item), &kind, tool.input, at_};
  if (tool.id.empty()) return complete(open, false, {});  // its result could not be matched
  open_.push_back(std::move(open));
}

void Activity::on(const transcripts::ToolResult& result) {
  const auto found = std::ranges::find(open_, result.id, &Open::id);
  if (found == open_.end()) return;
  auto open = std::move(*found);
  open_.erase(found);
  if (result.at != 0) at_ = result.at;
  block_started_at_ = at_;
  // A result that differs from the streamed output (it was shortened for the model) repeats what was emitted.
  if (const auto visible = content(result.text); visible.starts_with(open.printed))
    emit_output(open, std::string_view{visible}.substr(open.printed.size()));
  if (!open.effect_emitted) emit_tool_effect(open, result);
  if (!open.effect_emitted && open.kind->use == ToolCategory::Shell)
    open.failed = parse_outcome(result.text).exit_code.value_or(0) != 0;
  complete(open, result.failed || open.failed, {});
}

/// Of a failed tool, only a command has certainly run, by its exit code.
void Activity::emit_tool_effect(const Open& open, const transcripts::ToolResult& result) {
  const auto& kind = *open.kind;
  if (kind.use == ToolCategory::Shell) {
    const auto outcome = parse_outcome(result.text);
    if (result.failed && !outcome.exit_code) return;
    return emit_command({.text = subject_of(kind, open.input),
                         .exit_code = outcome.exit_code,
                         .duration_ms = std::max<std::int64_t>(0, at_ - open.since),
                         .output = outcome.output});
  }
  if (result.failed) return;
  const auto subject = subject_of(kind, open.input);
  if (kind.use == ToolCategory::Patch) {
    for (const auto& change : files_in_patch(subject)) emit_change(change, false);
  } else if (kind.use == ToolCategory::Read || changes_files(kind.use)) {
    if (subject.empty()) return;
    events::FileOperation operation{.operation = kind.use == ToolCategory::Read    ? FileOperationKind::Read
                                                 : kind.use == ToolCategory::Write ? FileOperationKind::Write
                                                                                   : FileOperationKind::Edit,
                                    .file_path = cut(subject, kMaxPathBytes)};
    // The earlier content of an overwritten file is unknown.
    if (kind.use == ToolCategory::Edit && !kind.before.empty())
      if (const auto input = parse_json_object(open.input)) set_diff(operation, diff_of(kind, *input));
    emit(std::move(operation));
  }
}

void Activity::on(const transcripts::CommandRun& command) {
  auto full = command;
  if (auto* const open = find_open(command.tool)) {
    open->effect_emitted = true;
    open->failed = command.exit_code.value_or(0) != 0;
    if (full.text.empty()) full.text = subject_of(*open->kind, open->input);
    if (!full.duration_ms) full.duration_ms = std::max<std::int64_t>(0, at_ - open->since);
  } else {
    for (auto& each : open_) each.effect_emitted = each.effect_emitted || each.kind->use == ToolCategory::Shell;
  }
  emit_command(full);
}

void Activity::emit_command(const transcripts::CommandRun& command) {
  if (command.text.empty()) return;
  emit(events::CommandExecuted{.command = content(command.text),
                               .exit_code = command.exit_code,
                               .duration = command.duration_ms.value_or(0),
                               .stdout_text = shortened_output(command.output),
                               .stderr_text = shortened_output(command.errors)});
}

void Activity::on(const transcripts::FileChange& change) {
  auto* const open = find_open(change.tool);
  if (open != nullptr)
    open->effect_emitted = true;
  else
    for (auto& each : open_) each.effect_emitted = each.effect_emitted || changes_files(each.kind->use);
  emit_change(change, open != nullptr && open->kind->use == ToolCategory::Write);
}

void Activity::emit_change(const transcripts::FileChange& change, bool written) {
  if (change.path.empty()) return;
  auto diff = change.change == Change::Created && change.diff.empty() ? diff_between("", change.content)
                                                                      : diff_from(change.diff);
  const auto emit_operation = [&](FileOperationKind kind, std::string_view path, Diff with) {
    events::FileOperation operation{.operation = kind, .file_path = cut(path, kMaxPathBytes)};
    set_diff(operation, std::move(with));
    emit(std::move(operation));
  };
  if (!change.moved_to.empty() && change.change == Change::Edited) {
    emit_operation(FileOperationKind::Delete, change.path, {});
    return emit_operation(FileOperationKind::Create, change.moved_to, std::move(diff));
  }
  switch (change.change) {
    case Change::Created: return emit_operation(FileOperationKind::Create, change.path, std::move(diff));
    case Change::Deleted: return emit_operation(FileOperationKind::Delete, change.path, std::move(diff));
    case Change::Edited:
      return emit_operation(written ? FileOperationKind::Write : FileOperationKind::Edit, change.path, std::move(diff));
  }
}

void Activity::on(const transcripts::TokenUsage& usage) {
  emit(events::TokensUsed{.model = cut(usage.model, kMaxWordBytes),
                          .input_tokens = usage.input.value_or(0),
                          .output_tokens = usage.output.value_or(0),
                          .cache_read_tokens = usage.cache_read,
                          .cache_write_tokens = usage.cache_write,
                          .estimated_cost_usd = usage.cost,
                          .reasoning_tokens = usage.reasoning,
                          .request_id = usage.id.empty()                   ? std::nullopt
                                        : usage.id.size() <= kMaxWordBytes ? std::optional{usage.id}
                                                                           : std::optional{sha256_hex(usage.id)},
                          .source = source_});
}

void Activity::on(const transcripts::TurnEnded& turn) {
  close_all(turn.outcome == transcripts::TurnOutcome::Interrupted ? kInterrupted
            : turn.outcome == transcripts::TurnOutcome::Failed    ? "the turn failed"
                                                                  : "the turn ended without its result");
}

void Activity::on(const transcripts::Unknown& unknown) {
  if (unparsed_ >= kMaxUnparsed) return;
  ++unparsed_;
  emit(events::AgentUnparsed{.source = source_,
                             .problem = unknown.problem,
                             .text = unknown.type.empty() ? std::nullopt : std::optional{unknown.type}});
}

void Activity::complete(const Open& open, bool failed, std::string_view reason) {
  json::object result{{"failed", failed}};
  if (!reason.empty()) result["reason"] = reason;
  emit(events::ItemCompleted{.item_id = open.item,
                             .completed_at = at_,
                             .result = std::move(result),
                             .duration = std::max<std::int64_t>(0, at_ - open.since)});
}

void Activity::close_all(std::string_view reason) {
  block_started_at_ = 0;
  for (const auto& block : blocks_.take_all()) close_block(block, reason);
  for (const auto& open : std::exchange(open_, {})) complete(open, true, reason);
}

Activity::Open* Activity::find_open(std::string_view id) {
  if (id.empty()) return nullptr;
  const auto found = std::ranges::find(open_, id, &Open::id);
  return found == open_.end() ? nullptr : &*found;
}

}  // namespace relay::activity
