#include "capture/record.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "capture/redact.h"
#include "text/utf8.h"

namespace relay::capture {
namespace {

constexpr int kVersion = 1;
constexpr std::size_t kMaxSourceBytes = 4096;
constexpr std::size_t kMaxNoteTypeBytes = 32;

constexpr std::array<std::string_view, 14> kKinds = {
    "session_start", "prompt", "tool_call", "tool_result", "permission", "notification", "message",
    "rate_limited",  "failed", "turn_end",  "session_end", "interrupt",  "note",         "other"};

json::string text_of(std::string_view text) { return json::string{text.data(), text.size()}; }

/// The largest prefix whose JSON fits.
json::value cut_to(std::string_view text, std::size_t max_bytes) {
  for (auto room = max_bytes;; room /= 2) {
    json::value value = text_of(text::truncate_utf8(text, room));
    if (json::serialize(value).size() <= max_bytes) return value;
  }
}

json::object bounded(const json::object& data) {
  json::object result;
  json::array cut;
  std::size_t room = kMaxDataBytes;
  for (const auto& member : data) {
    auto serialized = json::serialize(member.value());
    const auto limit = std::min(room, kMaxFieldBytes);
    if (serialized.size() <= limit) {
      result[member.key()] = member.value();
    } else if (limit > member.key().size() + 64) {
      const auto* text = member.value().if_string();
      result[member.key()] = cut_to(text != nullptr ? std::string_view{text->data(), text->size()} : serialized, limit);
    }
    const bool whole = serialized.size() <= limit;
    if (!whole && cut.size() < 64) cut.push_back(text_of(text::truncate_utf8(member.key(), 128)));
    const auto* now = result.if_contains(member.key());
    const auto used = now == nullptr ? 0 : json::serialize(*now).size() + 6 * member.key().size() + 4;
    room -= std::min(room, used);
  }
  if (!cut.empty()) result["cut"] = std::move(cut);
  return result;
}

json::value short_text(const std::string& text) { return cut_to(text, kMaxSourceBytes); }

}  // namespace

std::string_view name_of(RecordKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

Result<Record> note(Source source, std::string_view type, std::string_view text) {
  const auto is_type_character = [](char c) { return (c >= 'a' && c <= 'z') || c == '_' || c == '-'; };
  if (type.empty() || type.size() > kMaxNoteTypeBytes || !std::ranges::all_of(type, is_type_character))
    return fail(
        format("the type of a note is a word of 1 to {} lower-case letters, such as decision", kMaxNoteTypeBytes));
  if (text.empty()) return fail("a note needs text");
  return Record{std::move(source), RecordKind::Note, {{"type", text_of(type)}, {"text", text_of(text)}}};
}

Result<TimedRecord> parse_record(std::string_view line) {
  const auto object = RELAY_TRY(parse_json_object(line));
  if (integer_member(object, "v") != kVersion) return fail("the line has another version");
  const auto text = [&](std::string_view name) { return string_member(object, name).value_or(""); };
  const auto kind = std::ranges::find(kKinds, text("kind"));
  TimedRecord timed{
      .at = integer_member(object, "ts").value_or(0),
      .record = {.source = {.session = text("session"),
                            .agent = text("agent"),
                            .working_directory = text("cwd"),
                            .name = text("name")},
                 .kind = kind == kKinds.end() ? RecordKind::Other : static_cast<RecordKind>(kind - kKinds.begin())}};
  if (const auto* data = object_member(object, "data")) timed.record.data = *data;
  return timed;
}

std::string encode_line(Record record, WallMs now) {
  json::value data = std::move(record.data);
  redact(data);
  json::object line{{"v", kVersion},
                    {"ts", now},
                    {"session", short_text(record.source.session)},
                    {"agent", short_text(record.source.agent)},
                    {"kind", name_of(record.kind)},
                    {"cwd", short_text(record.source.working_directory)}};
  if (!record.source.name.empty()) line["name"] = short_text(record.source.name);
  line["data"] = bounded(data.get_object());
  return json::serialize(line) + "\n";
}

}  // namespace relay::capture
