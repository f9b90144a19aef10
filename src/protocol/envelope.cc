#include "protocol/envelope.h"
#include "text/json_errors.h"

#include <charconv>
#include <cmath>

#include "base/format.h"
#include "protocol/limits.h"
#include "protocol/payload_fields.h"
#include "text/json_members.h"
#include "text/json_scanner.h"
#include "text/json_writer.h"
#include "text/utf8.h"

namespace relay::protocol {
namespace {

constexpr std::size_t kShownTypeBytes = 40;
constexpr std::size_t kFixedBytes = 160;  // keys, punctuation and numbers of an outgoing envelope

/// The members of a frame. Compared by length first, because this runs for every frame.
class EnvelopeFields {
 public:
  Result<void> read(std::string_view frame) {
    return text::detail::for_each_member(frame, 0,
                                         [this](std::string_view key, text::JsonKind kind, std::string_view raw) {
                                           if (Field* const field = find_field(key)) field->value = {kind, raw};
                                         });
  }

  Field v{"v"}, type{"type"}, id{"id"}, ts{"ts"}, from{"from"}, to{"to"}, topic{"topic"}, payload{"payload"},
      payload_meta{"payload_meta"}, delivery{"delivery"}, claim_token{"claim_token"};

 private:
  Field* find_field(std::string_view key) {
    switch (key.size()) {
      case 1: return same(v, key);
      case 2: return key == "id" ? &id : key == "ts" ? &ts : same(to, key);
      case 4: return key == "type" ? &type : same(from, key);
      case 5: return same(topic, key);
      case 7: return same(payload, key);
      case 8: return same(delivery, key);
      case 11: return same(claim_token, key);
      case 12: return same(payload_meta, key);
      default: return nullptr;
    }
  }
  static Field* same(Field& field, std::string_view key) { return field.name == key ? &field : nullptr; }
};

/// Reads string fields: a view into the frame, or into `decoded` where escapes had to be resolved.
class TextReader {
 public:
  TextReader(std::unique_ptr<char[]>& decoded, std::size_t frame_bytes)
      : decoded_{decoded}, frame_bytes_{frame_bytes} {}

  Result<std::string_view> read(const Field& field, std::size_t max_bytes) {
    if (!field.present()) return std::string_view{};
    if (field.value.kind != text::JsonKind::String) return bad(field, "must be a string");
    const std::string_view text = text_of(field.value.raw);
    if (text.size() > max_bytes) return bad(field, format("is longer than {} bytes; send less", max_bytes));
    if (text::has_control_characters(text)) return bad(field, "contains a control character; leave it out");
    return text;
  }

  static Failure bad(const Field& field, std::string_view problem) {
    return fail(Errc::BadField, format("the field \"{}\" {}", field.name, problem));
  }

 private:
  std::string_view text_of(std::string_view raw) {
    if (text::is_plain_string(raw)) return raw.substr(1, raw.size() - 2);
    // Escapes never grow when resolved and the fields do not overlap, so the frame's size is room for all of them.
    if (decoded_ == nullptr) decoded_ = std::make_unique_for_overwrite<char[]>(frame_bytes_);
    char* const start = decoded_.get() + used_;
    const std::size_t length = text::decode_string_into(start, raw);
    used_ += length;
    return {start, length};
  }

  std::unique_ptr<char[]>& decoded_;
  std::size_t frame_bytes_;
  std::size_t used_ = 0;
};

Result<void> check_version(const Field& v) {
  if (!v.present()) return fail(Errc::MissingField, "the field \"v\" is missing; this is protocol version 1");
  if (v.value.kind != text::JsonKind::Number || text::decode_integer(v.value.raw) != 1) {
    return fail(Errc::BadField, "the field \"v\" must be 1; other protocol versions are not supported");
  }
  return {};
}

Result<MessageType> read_type(const Field& field) {
  if (!field.present()) return fail(Errc::MissingField, "the field \"type\" is missing");
  if (field.value.kind != text::JsonKind::String) return TextReader::bad(field, "must be a string");
  // No type has an escape or is nearly this long, so the name is not decoded.
  const std::string_view name = field.value.raw.substr(1, field.value.raw.size() - 2);
  if (const auto type = parse_message_type(name)) return *type;
  return fail(Errc::UnknownType, format("unknown message type \"{}\"", text::truncate_utf8(name, kShownTypeBytes)));
}

Result<WallMs> read_ts(const Field& field) {
  if (!field.present()) return WallMs{0};
  if (field.value.kind != text::JsonKind::Number) return TextReader::bad(field, "must be a number of milliseconds");
  if (const auto integer = text::decode_integer(field.value.raw)) return *integer;
  // The sender's clock is informative only: a fraction is dropped, and an invalid value counts as absent.
  const auto number = text::decode_number(field.value.raw);
  return number && std::abs(*number) < 9e15 ? static_cast<WallMs>(*number) : WallMs{0};
}

void append_member(std::string& out, std::string_view key, std::string_view text) {
  if (text.empty()) return;
  out += key;
  text::append_json_string(out, text);
}

void append_slice(std::string& out, std::string_view key, std::string_view json) {
  if (json.empty()) return;
  out += key;
  out += json;
}

}  // namespace

Result<Envelope> parse_envelope(std::string_view frame) {
  if (!text::is_utf8(frame)) return fail(text::JsonErrc::BadUtf8, "this frame is not UTF-8; send text as UTF-8");
  EnvelopeFields fields;
  RELAY_TRY(fields.read(frame));
  Envelope envelope;
  RELAY_TRY(check_version(fields.v));
  envelope.type = RELAY_TRY(read_type(fields.type));
  TextReader text{envelope.decoded, frame.size()};
  if (!fields.id.present()) return fail(Errc::MissingField, "the field \"id\" is missing");
  envelope.id = RELAY_TRY(text.read(fields.id, kMaxIdBytes));
  if (envelope.id.empty()) return TextReader::bad(fields.id, "must not be empty");
  envelope.ts = RELAY_TRY(read_ts(fields.ts));
  envelope.from = RELAY_TRY(text.read(fields.from, kMaxNameBytes));
  envelope.to = RELAY_TRY(text.read(fields.to, kMaxTopicBytes));
  envelope.topic = RELAY_TRY(text.read(fields.topic, kMaxTopicBytes));
  envelope.claim_token = RELAY_TRY(text.read(fields.claim_token, kMaxTokenBytes));
  if (fields.payload.value.raw.empty()) return fail(Errc::MissingField, "the field \"payload\" is missing");
  if (!fields.payload.present()) return TextReader::bad(fields.payload, "must be an object");
  envelope.payload = RELAY_TRY(read_object(fields.payload));
  envelope.payload_meta = RELAY_TRY(read_object(fields.payload_meta));
  envelope.delivery = RELAY_TRY(read_object(fields.delivery));
  return envelope;
}

std::optional<Envelope> parse_head(std::string_view frame) {
  EnvelopeFields fields;
  if (!text::is_utf8(frame) || !fields.read(frame) || !check_version(fields.v)) return std::nullopt;
  const auto type = read_type(fields.type);
  Envelope head;
  const auto id = TextReader{head.decoded, frame.size()}.read(fields.id, kMaxIdBytes);
  if (!type || !id || id->empty()) return std::nullopt;
  head.type = *type;
  head.id = *id;
  head.payload = "{}";
  return head;
}

std::string write_envelope(const OutEnvelope& envelope) {
  std::string out;
  out.reserve(kFixedBytes + envelope.id.size() + envelope.from.size() + envelope.to.size() + envelope.topic.size() +
              envelope.claim_token.size() + envelope.payload.size() + envelope.payload_meta.size() +
              envelope.delivery.size());
  out += R"({"v":1,"type":")";
  out += name_of(envelope.type);
  out += R"(","id":)";
  text::append_json_string(out, envelope.id);
  out += R"(,"ts":)";
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, envelope.ts).ptr;
  out.append(digits, static_cast<std::size_t>(end - digits));
  append_member(out, R"(,"from":)", envelope.from);
  append_member(out, R"(,"to":)", envelope.to);
  append_member(out, R"(,"topic":)", envelope.topic);
  append_member(out, R"(,"claim_token":)", envelope.claim_token);
  append_slice(out, R"(,"payload":)", envelope.payload.empty() ? "{}" : envelope.payload);
  append_slice(out, R"(,"payload_meta":)", envelope.payload_meta);
  append_slice(out, R"(,"delivery":)", envelope.delivery);
  out += '}';
  return out;
}

}  // namespace relay::protocol
