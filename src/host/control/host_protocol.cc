#include "host/control/host_protocol.h"

#include "base/format.h"
#include "base/json.h"

namespace relay::host {
namespace {

constexpr std::int64_t kMaxCells = 10'000;
constexpr std::size_t kMaxKeys = 100;

Result<pty::WindowSize> read_size(const json::object& object) {
  const auto columns = integer_member(object, "columns").value_or(0);
  const auto rows = integer_member(object, "rows").value_or(0);
  if (columns < 1 || rows < 1 || columns > kMaxCells || rows > kMaxCells)
    return fail("columns and rows must be numbers from 1 to 10000");
  return pty::WindowSize{.columns = static_cast<std::uint16_t>(columns), .rows = static_cast<std::uint16_t>(rows)};
}

Result<Input> read_input(const json::object& object) {
  Input input{.data = string_member(object, "data").value_or(""), .text = string_member(object, "text").value_or("")};
  if (const auto* names = array_member(object, "keys")) {
    if (names->size() > kMaxKeys) return fail(format("at most {} keys at once", kMaxKeys));
    for (const auto& value : *names) {
      const auto* name = value.if_string();
      const auto key = name != nullptr ? terminal::parse_key({name->data(), name->size()}) : std::nullopt;
      if (!key)
        return fail(format("there is no key {}; keys are {}",
                           name != nullptr ? json::serialize(*name) : "a value that is not a string",
                           terminal::key_names()));
      input.keys.push_back(*key);
    }
  }
  if ((input.data.empty() ? 0 : 1) + (input.text.empty() ? 0 : 1) + (input.keys.empty() ? 0 : 1) != 1)
    return fail("input needs one of data, keys and text");
  return input;
}

std::vector<std::string> read_strings(const json::object& object, std::string_view name) {
  std::vector<std::string> strings;
  if (const auto* values = array_member(object, name))
    for (const auto& value : *values)
      if (const auto* string = value.if_string()) strings.emplace_back(string->data(), string->size());
  return strings;
}

Result<FetchMessages> read_fetch(const json::object& object) {
  const auto limit = integer_member(object, "limit").value_or(kMaxFetch);
  if (limit < 1) return fail("limit must be at least 1");
  return FetchMessages{.take = bool_member(object, "take").value_or(false),
                       .limit = std::min(static_cast<std::size_t>(limit), kMaxFetch),
                       .ids = read_strings(object, "ids")};
}

Result<AnswerPrompt> read_answer(const json::object& object) {
  const auto decision = string_member(object, "decision").value_or("");
  const bool timed_out = decision == "timeout";
  if (decision != "approve" && decision != "deny" && !timed_out)
    return fail("decision must be approve, deny or timeout");
  const auto by = string_member(object, "by").value_or("");
  return AnswerPrompt{.prompt = string_member(object, "prompt").value_or(""),
                      .reply = {.decision = decision == "approve" ? adapters::PromptAnswer::Decision::Approve
                                                                  : adapters::PromptAnswer::Decision::Deny,
                                .message = string_member(object, "message").value_or(""),
                                .answers = read_strings(object, "answers")},
                      .by = by.empty() ? "human" : by,
                      .timed_out = timed_out};
}

Result<HookCall> read_hook(const json::object& object) {
  const auto* event = object_member(object, "event");
  if (event == nullptr) return fail("a hook needs its event");
  return HookCall{.event = RELAY_TRY(hooks::event_from(*event))};
}

Result<RequestParams> read_params(std::string_view method, const json::object& object) {
  const auto string = [&](std::string_view name) { return string_member(object, name).value_or(""); };
  if (method == "describe") return Describe{};
  if (method == "explain") return Explain{};
  if (method == "watch") return Watch{};
  if (method == "screen") {
    const auto format_name = string("format");
    if (format_name != "ansi" && format_name != "text" && !format_name.empty())
      return fail("format must be text or ansi");
    return ShowScreen{.ansi = format_name == "ansi"};
  }
  if (method == "attach") {
    const auto mode = string("mode");
    if (mode != "view" && mode != "drive") return fail("mode must be view or drive");
    return Attach{.drive = mode == "drive", .size = RELAY_TRY(read_size(object))};
  }
  if (method == "resize") return Resize{.size = RELAY_TRY(read_size(object))};
  if (method == "input") return read_input(object);
  if (method == "interrupt") return Interrupt{};
  if (method == "hook") return read_hook(object);
  if (method == "fetch") return read_fetch(object);
  if (method == "prompts") return ListPrompts{};
  if (method == "answer") return read_answer(object);
  if (method == "show-dialog") return ShowDialog{.prompt = string("prompt")};
  if (method == "release") {
    ReleaseAgent request{.reason = string("reason")};
    if (auto by = string("by"); !by.empty()) request.by = std::move(by);
    return request;
  }
  return fail(method.empty() ? std::string{"`method` is missing"} : format("unknown method {}", method));
}

}  // namespace

Result<Request> parse_request(std::string_view text) {
  const auto object = RELAY_TRY(parse_json_object(text));
  auto method = string_member(object, "method").value_or("");
  auto params = RELAY_TRY(read_params(method, object));
  return Request{std::move(method), string_member(object, "id").value_or(""), std::move(params)};
}

}  // namespace relay::host
