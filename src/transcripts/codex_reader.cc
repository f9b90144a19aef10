/// Codex: `$CODEX_HOME/sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl`, one line per item of the conversation and
///   per event of the program.
///
/// Text is recorded twice, as an event and as the item that is sent to the model. The reader uses the items, because
/// every version writes them, and only those events that add information: turns, tokens, limits, and effects of tools
/// (a script of the model runs commands that no item mentions).
#include <algorithm>
#include <array>

#include "base/format.h"
#include "base/hash.h"
#include "transcripts/dedup_cache.h"
#include "transcripts/fields.h"
#include "transcripts/limits.h"
#include "transcripts/line_reader.h"
#include "transcripts/reader.h"

namespace relay::transcripts {
namespace {

constexpr auto kIgnoredLines = std::to_array<std::string_view>(
    {"inter_agent_communication", "inter_agent_communication_metadata", "token_usage_record", "world_state"});

/// Events that repeat an item, or only concern the user's screen.
constexpr auto kIgnoredEvents = std::to_array<std::string_view>(
    {"agent_message", "agent_reasoning", "agent_reasoning_raw_content", "context_compacted", "entered_review_mode",
     "exited_review_mode", "mcp_tool_call_end", "sub_agent_activity", "thread_goal_updated", "thread_name_updated",
     "thread_rolled_back", "thread_settings_applied", "undo_completed", "user_message", "view_image_tool_call",
     "web_search_end"});

constexpr auto kIgnoredItems =
    std::to_array<std::string_view>({"additional_tools", "compaction", "compaction_summary", "context_compaction",
                                     "ghost_snapshot", "image_generation_call", "other"});

/// How the output of a failed or interrupted call starts.
constexpr auto kFailedPrefixes =
    std::to_array<std::string_view>({"Script failed\n", "Script terminated\n", "aborted by user"});
constexpr std::int64_t kMaxSeconds = 366LL * 24 * 3600;

bool contains(const auto& list, std::string_view word) { return std::ranges::find(list, word) != list.end(); }

class CodexReader final : public LineReader {
 public:
  void restart() override { turn_.clear(); }

 private:
  void read_object(const json::object& line) override {
    const auto type = short_string(line, "type");
    if (contains(kIgnoredLines, type)) return;
    const auto* payload = object_member(line, "payload");
    if (payload == nullptr) return emit_unknown(type, "it has no payload");
    if (type == "response_item")
      read_item(*payload, short_string(line, "timestamp"));
    else if (type == "event_msg")
      read_event(*payload);
    else if (type == "session_meta")
      read_session(*payload);
    else if (type == "turn_context")
      model_ = short_string(*payload, "model");
    else if (type == "compacted")
      emit_prompt({.text = long_string(*payload, "message"), .origin = Origin::Program});
    else
      emit_unknown(type, "a line of an unknown type");
  }

  void read_session(const json::object& payload) {
    auto id = short_string(payload, "id");
    if (id.empty() || id == session_) return;
    session_ = id;
    entries_.push_back(SessionInfo{.id = std::move(id), .working_directory = long_string(payload, "cwd")});
  }

  void read_item(const json::object& item, std::string_view written) {
    const auto type = short_string(item, "type");
    auto id = short_string(item, "id");
    // Older versions give messages no id: time and content identify them.
    if (id.empty() && type == "message" && !written.empty())
      id = relay::format("{} {}", written, sha256_hex(content_text(item, "content")).substr(0, 16));
    if (!id.empty() && !items_.at(id).second) return;
    if (type == "message")
      read_message(item, std::move(id));
    else if (type == "reasoning")
      read_reasoning(item, std::move(id));
    else if (type.ends_with("_call_output"))
      read_output(item);
    else if (type.ends_with("_call") && !contains(kIgnoredItems, type))
      read_call(item, type);
    else if (!contains(kIgnoredItems, type))
      emit_unknown(type, "an item of an unknown kind");
  }

  void read_message(const json::object& item, std::string id) {
    const auto role = short_string(item, "role");
    auto text = content_text(item, "content");
    if (text.empty()) return;
    if (role == "assistant") {
      const bool whole = text.size() < kMaxText && short_string(item, "status") != "incomplete";
      entries_.push_back(Text{.id = std::move(id), .text = std::move(text), .whole = whole});
    } else {
      const auto origin = origin_of(item, role, text);
      emit_prompt({.id = std::move(id), .text = std::move(text), .origin = origin});
    }
  }

  /// Newer versions record the origin of each part; in older ones the program's own parts are in tags.
  static Origin origin_of(const json::object& item, std::string_view role, std::string_view text) {
    const auto* more = object_member(item, "internal_chat_message_metadata_passthrough");
    const auto* kinds = more == nullptr ? nullptr : array_member(*more, "content_item_kinds");
    if (kinds == nullptr || kinds->empty()) {
      const bool tagged = text.starts_with('<') || text.starts_with("# AGENTS.md");
      return role == "user" && !tagged ? Origin::User : Origin::Program;
    }
    for (const auto& kind : *kinds) {
      if (!kind.is_string()) continue;
      if (kind.get_string().starts_with("hooks.")) return Origin::Hook;
      if (kind.get_string().starts_with("user.")) return Origin::User;
    }
    return Origin::Program;
  }

  void read_reasoning(const json::object& item, std::string id) {
    auto text = content_text(item, "summary");
    if (!text.empty()) entries_.push_back(Thought{.id = std::move(id), .text = std::move(text)});
  }

  void read_call(const json::object& item, const std::string& type) {
    const auto* input = item.if_contains("arguments");
    if (input == nullptr) input = item.if_contains("input");
    if (input == nullptr) input = item.if_contains("action");
    auto name = short_string(item, "name");
    entries_.push_back(make_tool_call(short_string(item, "call_id"), name.empty() ? type : std::move(name), input));
  }

  void read_output(const json::object& item) {
    const auto text = output_text(item);
    const auto* output = object_member(item, "output");
    const bool failed =
        (output != nullptr && bool_member(*output, "success") == false) ||
        std::ranges::any_of(kFailedPrefixes, [&](std::string_view how) { return text.starts_with(how); });
    entries_.push_back(make_tool_result(short_string(item, "call_id"), text, failed));
  }

  static std::string output_text(const json::object& item) {
    const auto* output = item.if_contains("output");
    if (output == nullptr || !output->is_object()) return content_text(output);
    return content_text(output->get_object(), "content");
  }

  void read_event(const json::object& event) {
    const auto type = short_string(event, "type");
    if (type == "token_count") {
      read_tokens(event);
    } else if (type == "task_started" || type == "turn_started") {
      start_turn(event);
    } else if (type == "task_complete" || type == "turn_complete") {
      const auto* error = object_member(event, "error");
      if (error != nullptr) read_failure(*error, short_string(event, "turn_id"));
      end_turn(event, error == nullptr ? TurnOutcome::Done : TurnOutcome::Failed);
    } else if (type == "turn_aborted") {
      end_turn(event, TurnOutcome::Interrupted);
    } else if (type == "item_completed") {
      if (const auto* item = object_member(event, "item"))
        read_tool_effect(*item, short_string(*item, "id"), short_string(*item, "type"));
    } else if (type == "exec_command_end") {
      read_tool_effect(event, short_string(event, "call_id"), "CommandExecution");
    } else if (type == "patch_apply_end") {
      read_tool_effect(event, short_string(event, "call_id"), "FileChange");
    } else if (!contains(kIgnoredEvents, type)) {
      emit_unknown(type, "an unknown event");
    }
  }

  /// Newer versions write an item, older ones an event.
  void read_tool_effect(const json::object& effect, const std::string& id, std::string_view type) {
    const bool is_command = type == "CommandExecution";
    if ((!is_command && type != "FileChange") || (!id.empty() && !items_.add("effect " + id))) return;
    const auto status = short_string(effect, "status");
    if (status == "declined" || status == "in_progress") return;
    if (is_command) return read_command(effect, id);
    if (status == "failed" || bool_member(effect, "success") == false) return;
    const auto* changes = object_member(effect, "changes");
    if (changes == nullptr) return;
    for (const auto& [path, change] : *changes)
      if (change.is_object() && entries_.size() < kMaxEntriesPerLine)
        read_change(change.get_object(), id, truncated({path.data(), path.size()}, kMaxToolText));
  }

  void read_command(const json::object& effect, const std::string& id) {
    CommandRun command{.tool = id, .exit_code = integer_member(effect, "exit_code")};
    if (const auto* words = array_member(effect, "command")) command.text = command_line(*words);
    if (const auto* took = object_member(effect, "duration")) {
      const auto seconds = count_member(*took, "secs"), nanos = count_member(*took, "nanos");
      if (seconds && nanos && *seconds <= kMaxSeconds) command.duration_ms = *seconds * 1'000 + *nanos / 1'000'000;
    }
    const auto out = long_string(effect, "stdout");
    command.output = truncated(out.empty() ? long_string(effect, "aggregated_output") : out, kMaxToolText);
    command.errors = truncated(long_string(effect, "stderr"), kMaxToolText);
    entries_.push_back(std::move(command));
  }

  void read_change(const json::object& change, const std::string& id, std::string path) {
    const auto type = short_string(change, "type");
    entries_.push_back(FileChange{.tool = id,
                                  .change = type == "add"      ? Change::Created
                                            : type == "delete" ? Change::Deleted
                                                               : Change::Edited,
                                  .path = std::move(path),
                                  .moved_to = truncated(long_string(change, "move_path"), kMaxToolText),
                                  .diff = long_string(change, "unified_diff"),
                                  .content = type == "add" ? long_string(change, "content") : std::string{}});
  }

  /// The command line without the shell around it.
  static std::string command_line(const json::array& words) {
    const auto word = [&](std::size_t at) {
      return words[at].is_string() ? std::string{words[at].get_string()} : std::string{};
    };
    if (words.size() == 3 && (word(1) == "-lc" || word(1) == "-c")) return truncated(word(2), kMaxToolText);
    std::string line;
    for (std::size_t at = 0; at < words.size() && line.size() < kMaxToolText; ++at)
      line += (at == 0 ? "" : " ") + word(at);
    return truncated(line, kMaxToolText);
  }

  void start_turn(const json::object& event) {
    turn_ = short_string(event, "turn_id");
    const auto* attribution = object_member(event, "turn_attribution");
    entries_.push_back(
        TurnStarted{.id = turn_, .trigger = attribution == nullptr ? "" : short_string(*attribution, "turn_trigger")});
  }

  void end_turn(const json::object& event, TurnOutcome outcome) {
    auto id = short_string(event, "turn_id");
    if (id.empty()) id = turn_;
    turn_.clear();
    entries_.push_back(TurnEnded{.id = std::move(id), .outcome = outcome});
  }

  void read_failure(const json::object& error, std::string turn) {
    TurnFailure failure{.id = std::move(turn), .text = long_string(error, "message")};
    const auto* info = error.if_contains("codex_error_info");
    if (info != nullptr && info->is_string()) {
      failure.code = short_string(error, "codex_error_info");
    } else if (info != nullptr && info->is_object() && !info->get_object().empty()) {
      const auto& first =
          *info->get_object().begin();  // {"response_too_many_failed_attempts": {"http_status_code": 429}}
      failure.code = truncated({first.key().data(), first.key().size()}, kMaxWord);
      if (first.value().is_object())
        failure.status = integer_member(first.value().get_object(), "http_status_code").value_or(0);
    }
    failure.kind = classify_failure(failure.code, failure.status);
    entries_.push_back(std::move(failure));
  }

  /// The tokens of the last reply. The running total identifies replies: the same total is the same reply.
  void read_tokens(const json::object& event) {
    if (const auto* limits = object_member(event, "rate_limits")) read_limits(*limits);
    const auto* info = object_member(event, "info");
    const auto* total = info == nullptr ? nullptr : object_member(*info, "total_token_usage");
    const auto* last = info == nullptr ? nullptr : object_member(*info, "last_token_usage");
    if (total == nullptr || last == nullptr) return;
    const auto sum = count_member(*total, "total_tokens").value_or(0);
    if (sum == total_) return;
    total_ = sum;
    const auto cached = count_member(*last, "cached_input_tokens");
    auto input = count_member(*last, "input_tokens");
    if (input && cached && *cached <= *input) *input -= *cached;
    entries_.push_back(TokenUsage{.id = relay::format("{}#{}", session_, sum),
                                  .model = model_,
                                  .input = input,
                                  .cache_read = cached,
                                  .cache_write = count_member(*last, "cache_write_input_tokens"),
                                  .output = count_member(*last, "output_tokens"),
                                  .reasoning = count_member(*last, "reasoning_output_tokens")});
  }

  void read_limits(const json::object& limits) {
    for (const std::string_view name : {"primary", "secondary"}) {
      const auto* window = object_member(limits, name);
      const auto used = window == nullptr ? std::nullopt : number_member(*window, "used_percent");
      if (!used) continue;
      Limit limit{.name = std::string{name},
                  .used_percent = *used,
                  .window_minutes = integer_member(*window, "window_minutes"),
                  .resets_at = integer_member(*window, "resets_at")};
      auto& previous = limits_.at(name).first;
      if (previous == limit) continue;
      previous = limit;
      entries_.push_back(std::move(limit));
    }
  }

  void emit_prompt(ModelInput prompt) { entries_.push_back(std::move(prompt)); }

  std::string session_;
  std::string model_;
  std::string turn_;
  std::int64_t total_ = 0;
  DedupCache<bool> items_;
  DedupCache<Limit> limits_;
};

}  // namespace

std::unique_ptr<Reader> codex_reader() { return std::make_unique<CodexReader>(); }

}  // namespace relay::transcripts
