#include "protocol/send.h"

#include <array>
#include <functional>
#include <utility>

#include "base/format.h"
#include "protocol/errors.h"
#include "protocol/limits.h"
#include "protocol/payload_fields.h"
#include "text/utf8.h"

namespace relay::protocol {
namespace {

MessageKind parse_kind(std::string_view name) {
  for (const auto kind : {MessageKind::Message, MessageKind::Action, MessageKind::State, MessageKind::Thinking}) {
    if (name_of(kind) == name) return kind;
  }
  return MessageKind::Other;
}

/// Is the slice inside the text, so that `data` has an offset in it?
bool lies_inside(std::string_view slice, std::string_view text) {
  const std::less_equal<const char*> not_after;
  return !slice.empty() && not_after(text.data(), slice.data()) &&
         not_after(slice.data() + slice.size(), text.data() + text.size());
}

/// `object` with members appended. It ends with its closing brace.
std::string with_members(std::string_view object, std::string_view members) {
  const std::size_t last = object.find_last_not_of(" \t\r\n", object.size() - 2);
  std::string text{object.substr(0, object.size() - 1)};
  if (object[last] != '{') text += ',';
  text += members;
  text += '}';
  return text;
}

}  // namespace

std::string_view name_of(MessageKind kind) {
  switch (kind) {
    case MessageKind::Message: return "message";
    case MessageKind::Action: return "action";
    case MessageKind::State: return "state";
    case MessageKind::Thinking: return "thinking";
    case MessageKind::Other: return "other";
  }
  std::unreachable();
}

Result<SendView> parse_send(std::string_view payload) {
  Field kind{"kind"}, body{"body"}, data{"data"}, thread{"thread"};
  RELAY_TRY(read_fields(payload, {&kind, &body, &data, &thread}));
  SendView view;
  view.kind_name = RELAY_TRY(read_string(kind, kMaxKindBytes));
  if (view.kind_name.empty()) view.kind_name = name_of(MessageKind::Message);
  if (text::has_control_characters(view.kind_name)) {
    return fail(Errc::BadField, "the field \"kind\" contains a control character; leave it out");
  }
  view.kind = parse_kind(view.kind_name);
  view.thread = RELAY_TRY(read_string(thread, kMaxIdBytes));
  if (body.present()) {
    if (body.value.kind != text::JsonKind::String) return fail(Errc::BadField, "the field \"body\" must be a string");
    view.body = body.value.raw;
  }
  if (data.value.kind == text::JsonKind::Object) view.data = data.value.raw;
  return view;
}

bool is_silent(const SendView& view) { return view.kind == MessageKind::State || view.kind_name == "ack"; }

std::string splice_data(std::string_view payload, const SendView& view, std::string_view members) {
  if (members.empty()) return std::string{payload};
  std::string_view data = view.data;
  bool is_object = true;
  if (!lies_inside(data, payload)) {
    Field field{"data"};
    // A payload that does not scan was never accepted; it is forwarded unchanged, not partly changed.
    if (!read_fields(payload, {&field})) return std::string{payload};
    data = field.value.raw;
    is_object = field.value.kind == text::JsonKind::Object;
  }
  if (data.empty()) {
    const std::size_t end = payload.find_last_of('}') + 1;
    auto text = with_members(payload.substr(0, end), format("\"data\":{{{}}}", members));
    text += payload.substr(end);
    return text;
  }
  const auto start = static_cast<std::size_t>(data.data() - payload.data());
  std::string text;
  text.reserve(payload.size() + members.size() + 2);
  text += payload.substr(0, start);
  text += is_object ? with_members(data, members) : format("{{{}}}", members);
  text += payload.substr(start + data.size());
  return text;
}

}  // namespace relay::protocol
