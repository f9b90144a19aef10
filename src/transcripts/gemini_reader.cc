/// Gemini CLI: `~/.gemini/tmp/<project>/chats/session-<time>-<id>.jsonl`, a line per message.
///
/// A message is written again, with the same id, when its tools have returned; after a cancelled turn the whole
/// conversation is (`$set`), with other white space. So a message is identified by its id and its text, and only the
/// added part is emitted. After a refused call it is written again with new ids, a reply then without its model. No
/// line marks the successful end of a turn.
#include <algorithm>

#include "base/hash.h"
#include "text/iso_time.h"
#include "transcripts/dedup_cache.h"
#include "transcripts/fields.h"
#include "transcripts/limits.h"
#include "transcripts/line_reader.h"
#include "transcripts/reader.h"
#include "transcripts/white_space.h"

namespace relay::transcripts {
namespace {

constexpr std::string_view kHookOpen = "<hook_context>";
constexpr std::string_view kHookClose = "</hook_context>";

/// The text of a message as emitted so far, without white space.
class SeenText {
 public:
  /// The new part of this text: all of it, the part appended to the earlier text, or nothing.
  std::string_view added(std::string_view text) {
    const auto compact = without_white_space(text);
    const bool continues = compact.size() >= length_ && sha256(std::string_view{compact}.substr(0, length_)) == digest_;
    const auto fresh = continues ? text.substr(after(text, length_)) : text;
    length_ = compact.size();
    digest_ = sha256(compact);
    return std::ranges::all_of(fresh, is_white_space) ? std::string_view{} : fresh;
  }

 private:
  static std::size_t after(std::string_view text, std::size_t characters) {
    std::size_t at = 0;
    for (; characters > 0; ++at)
      if (!is_white_space(text[at])) --characters;
    return at;
  }

  std::size_t length_ = 0;
  std::array<std::uint8_t, 32> digest_ = sha256("");
};

class GeminiReader final : public LineReader {
 public:
  void restart() override { turn_.clear(); }

 private:
  void read_object(const json::object& line) override {
    if (line.contains("$rewindTo")) return;  // the following lines are new, with their own ids
    if (const auto* set = object_member(line, "$set")) return read_set(*set);
    if (line.contains("sessionId")) return read_session(line);
    if (line.contains("type")) return read_message(line);
    emit_unknown("", "a line of an unknown kind");
  }

  void read_session(const json::object& line) {
    auto id = short_string(line, "sessionId");
    const auto kind = short_string(line, "kind");
    subagent_ = !kind.empty() && kind != "main";
    if (id != session_) entries_.push_back(SessionInfo{.id = id});
    session_ = std::move(id);
    if (const auto* messages = array_member(line, "messages")) read_messages(*messages);
  }

  void read_set(const json::object& set) {
    if (const auto* messages = array_member(set, "messages")) read_messages(*messages);
  }

  void read_messages(const json::array& messages) {
    for (std::size_t at = 0; at < std::min(messages.size(), kMaxEntriesPerLine); ++at)
      if (messages[at].is_object()) read_message(messages[at].get_object());
  }

  void read_message(const json::object& message) {
    const auto type = short_string(message, "type");
    const auto id = short_string(message, "id");
    if (type == "gemini")
      read_reply(message, id);
    else if (subagent_)
      return;
    else if (type == "user")
      read_user(message, id);
    else if (type == "error" && texts_.at("notice " + id).second)
      read_error(message, id);
    else if (type == "info" && texts_.at("notice " + id).second)
      read_info(message);
    else if (type != "error" && type != "info" && type != "warning")
      emit_unknown(type, "a message of an unknown type");
  }

  void read_reply(const json::object& message, const std::string& id) {
    const bool again = !message.contains("model") && array_member(message, "content") != nullptr;
    if (!subagent_ && !again) {
      read_thoughts(message, id);
      emit_text(id, joined(message));
      if (const auto* calls = array_member(message, "toolCalls")) read_tools(*calls);
    }
    if (const auto* tokens = object_member(message, "tokens")) read_usage(message, *tokens, id);
  }

  void emit_text(const std::string& id, std::string_view text) {
    const auto news = texts_.at("text " + id).first.added(text);
    if (!news.empty()) entries_.push_back(Text{.id = id, .text = std::string{news}, .whole = text.size() < kMaxText});
  }

  void read_thoughts(const json::object& message, const std::string& id) {
    const auto* thoughts = array_member(message, "thoughts");
    if (thoughts == nullptr || thoughts->empty() || !texts_.at("thoughts " + id).second) return;
    Thought all{.id = id};
    for (const auto& thought : *thoughts) {
      if (!thought.is_object() || all.text.size() >= kMaxText) continue;
      if (!all.text.empty()) all.text += '\n';
      all.text += long_string(thought.get_object(), "description");
    }
    all.text = truncated(all.text, kMaxText);
    if (!all.text.empty()) entries_.push_back(std::move(all));
  }

  void read_tools(const json::array& calls) {
    for (std::size_t at = 0; at < std::min(calls.size(), kMaxEntriesPerLine); ++at) {
      if (!calls[at].is_object()) continue;
      const auto& call = calls[at].get_object();
      const auto id = short_string(call, "id");
      if (texts_.at("call " + id).second)
        entries_.push_back(make_tool_call(id, short_string(call, "name"), call.if_contains("args")));
      const auto* result = array_member(call, "result");
      if (result == nullptr || !texts_.at("result " + id).second) continue;
      const auto* display = object_member(call, "resultDisplay");  // of a refused call: the requested change
      if (display != nullptr && short_string(call, "status") == "success") read_change(id, *display);
      read_result(id, *result, short_string(call, "status") == "error" || short_string(call, "status") == "cancelled",
                  text::parse_iso_time(short_string(call, "timestamp")).value_or(0));
    }
  }

  void read_change(const std::string& id, const json::object& display) {
    auto path = truncated(long_string(display, "filePath"), kMaxToolText);
    if (path.empty() || !display.contains("fileDiff")) return;
    entries_.push_back(FileChange{.tool = id,
                                  .change = is_true(display, "isNewFile") ? Change::Created : Change::Edited,
                                  .path = std::move(path),
                                  .diff = long_string(display, "fileDiff")});
  }

  /// The line has the time of the reply; the call records when it ended.
  void read_result(const std::string& id, const json::array& parts, bool failed, WallMs at) {
    std::string text;
    for (const auto& part : parts) {
      if (!part.is_object()) continue;
      const auto* answer = object_member(part.get_object(), "functionResponse");
      const auto* response = answer == nullptr ? nullptr : object_member(*answer, "response");
      if (response == nullptr) continue;
      const auto output = long_string(*response, "output");
      text += output.empty() ? long_string(*response, "error") : output;
      if (text.size() >= kMaxText) break;
    }
    auto result = make_tool_result(id, text, failed);
    result.at = at;
    entries_.push_back(std::move(result));
    emit_hook_context(id, text, "AfterTool");
  }

  /// Gemini counts cached tokens as input too, and thoughts separately from output.
  void read_usage(const json::object& message, const json::object& tokens, const std::string& id) {
    TokenUsage usage{.id = id,
                     .model = short_string(message, "model"),
                     .input = count_member(tokens, "input"),
                     .cache_read = count_member(tokens, "cached"),
                     .output = count_member(tokens, "output"),
                     .reasoning = count_member(tokens, "thoughts")};
    if (usage.input && usage.cache_read && *usage.cache_read <= *usage.input) *usage.input -= *usage.cache_read;
    if (usage.output && usage.reasoning) *usage.output += *usage.reasoning;
    auto& last = usages_.at(id).first;
    if (last == usage) return;
    last = usage;
    entries_.push_back(std::move(usage));
  }

  void read_user(const json::object& message, const std::string& id) {
    const auto text = content_text(message, "content");
    if (text.empty() || texts_.at("user " + id).first.added(text).empty()) return;
    auto own = text.substr(0, text.find(kHookOpen));
    while (!own.empty() && is_white_space(own.back())) own.pop_back();
    const bool by_program = own.starts_with("<session_context>");
    if (!by_program && !own.empty()) {
      turn_ = id;
      entries_.push_back(TurnStarted{.id = id});
    }
    if (!own.empty())
      entries_.push_back(ModelInput{.id = id, .text = own, .origin = by_program ? Origin::Program : Origin::User});
    emit_hook_context(id, text, "BeforeAgent");
  }

  void emit_hook_context(const std::string& id, std::string_view text, std::string_view event) {
    const auto start = text.rfind(kHookOpen);
    if (start == std::string_view::npos) return;
    text.remove_prefix(start + kHookOpen.size());
    entries_.push_back(ModelInput{.id = id,
                                  .text = std::string{text.substr(0, text.rfind(kHookClose))},
                                  .origin = Origin::Hook,
                                  .from = std::string{event}});
  }

  void read_error(const json::object& message, const std::string& id) {
    auto text = content_text(message, "content");
    const auto kind = text.find("429") != std::string::npos || text.find("quota") != std::string::npos
                          ? FailureKind::RateLimit
                          : FailureKind::Other;
    entries_.push_back(TurnFailure{.id = id, .kind = kind, .text = std::move(text)});
    end_turn(TurnOutcome::Failed);
  }

  void read_info(const json::object& message) {
    if (content_text(message, "content").starts_with("Request cancelled")) end_turn(TurnOutcome::Interrupted);
  }

  void end_turn(TurnOutcome outcome) {
    if (!turn_.empty()) entries_.push_back(TurnEnded{.id = std::exchange(turn_, {}), .outcome = outcome});
  }

  /// Joins the parts of a reply into one text.
  static std::string joined(const json::object& message) {
    const auto* parts = array_member(message, "content");
    if (parts == nullptr) return content_text(message, "content");
    std::string all;
    for (const auto& part : *parts)
      if (part.is_object() && all.size() < kMaxText) all += long_string(part.get_object(), "text");
    return truncated(all, kMaxText);
  }

  std::string session_;
  std::string turn_;
  bool subagent_ = false;
  DedupCache<SeenText> texts_;
  DedupCache<TokenUsage> usages_;
};

}  // namespace

std::unique_ptr<Reader> gemini_reader() { return std::make_unique<GeminiReader>(); }

}  // namespace relay::transcripts
