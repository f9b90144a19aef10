#include "host/control/host_protocol.h"

#include "base/format.h"
#include "base/json.h"

namespace relay::host {
namespace {

constexpr std::int64_t kMaxCells = 10'000;
constexpr std::size_t kMaxKeys = 100;

Result<pty::WindowSize> size_in(const json::object& object) {
  const auto columns = integer_member(object, "columns").value_or(0);
  const auto rows = integer_member(object, "rows").value_or(0);
  if (columns < 1 || rows < 1 || columns > kMaxCells || rows > kMaxCells)
    return fail("columns and rows must be numbers from 1 to 10000");
  return pty::WindowSize{.columns = static_cast<std::uint16_t>(columns), .rows = static_cast<std::uint16_t>(rows)};
}

Result<Input> input_in(const json::object& object) {
  Input input{.data = string_member(object, "data").value_or(""), .text = string_member(object, "text").value_or("")};
  if (const auto* names = array_member(object, "keys")) {
    if (names->size() > kMaxKeys) return fail(format("at most {} keys at once", kMaxKeys));
    for (const auto& value : *names) {
      const auto* name = value.if_string();
      const auto key = name != nullptr ? terminal::parse_key({name->data(), name->size()}) : std::nullopt;
      if (!key)
        return fail(format("there is no key {}; keys are {}",
                           name != nullptr ? json::serialize(*name) : "that is no text", terminal::key_names()));
      input.keys.push_back(*key);
    }
  }
  if ((input.data.empty() ? 0 : 1) + (input.text.empty() ? 0 : 1) + (input.keys.empty() ? 0 : 1) != 1)
    return fail("input needs one of data, keys and text");
  return input;
}

std::vector<std::string> words_in(const json::object& object, std::string_view name) {
  std::vector<std::string> words;
  if (const auto* values = array_member(object, name))
    for (const auto& value : *values)
      if (const auto* word = value.if_string()) words.emplace_back(word->data(), word->size());
  return words;
}

Result<FetchMessages> mail_in(const json::object& object) {
  const auto limit = integer_member(object, "limit").value_or(kMaxFetch);
  if (limit < 1) return fail("limit must be at least 1");
  return FetchMessages{.take = bool_member(object, "take").value_or(false),
                       .limit = std::min(static_cast<std::size_t>(limit), kMaxFetch),
                       .ids = words_in(object, "ids")};
}

Result<AnswerPrompt> answer_in(const json::object& object) {
  const auto decision = string_member(object, "decision").value_or("");
  const bool timed_out = decision == "timeout";
  if (decision != "approve" && decision != "deny" && !timed_out)
    return fail("decision must be approve, deny or timeout");
  const auto by = string_member(object, "by").value_or("");
  return AnswerPrompt{.prompt = string_member(object, "prompt").value_or(""),
                      .reply = {.verdict = decision == "approve" ? adapters::PromptAnswer::Decision::Allow
                                                                 : adapters::PromptAnswer::Decision::Deny,
                                .message = string_member(object, "message").value_or(""),
                                .answers = words_in(object, "answers")},
                      .by = by.empty() ? "human" : by,
                      .timed_out = timed_out};
}

Result<HookCall> hook_in(const json::object& object) {
  const auto* event = object_member(object, "event");
  if (event == nullptr) return fail("a hook needs its event");
  return HookCall{.event = RELAY_TRY(hooks::event_from(*event))};
}

Result<RequestParams> wish_in(std::string_view what, const json::object& object) {
  const auto word = [&](std::string_view name) { return string_member(object, name).value_or(""); };
  if (what == "describe") return Describe{};
  if (what == "explain") return Explain{};
  if (what == "watch") return Watch{};
  if (what == "screen") {
    const auto format_name = word("format");
    if (format_name != "ansi" && format_name != "text" && !format_name.empty())
      return fail("format must be a string or ansi");
    return ShowScreen{.ansi = format_name == "ansi"};
  }
  if (what == "attach") {
    const auto mode = word("mode");
    if (mode != "view" && mode != "drive") return fail("mode must be view or drive");
    return Attach{.drive = mode == "drive", .size = RELAY_TRY(size_in(object))};
  }
  if (what == "resize") return Resize{.size = RELAY_TRY(size_in(object))};
  if (what == "input") return input_in(object);
  if (what == "interrupt") return Interrupt{};
  if (what == "hook") return hook_in(object);
  if (what == "fetch") return mail_in(object);
  if (what == "prompts") return ListPrompts{};
  if (what == "answer") return answer_in(object);
  if (what == "show-dialog") return ShowDialog{.prompt = word("prompt")};
  if (what == "release") {
    ReleaseAgent wish{.reason = word("reason")};
    if (auto by = word("by"); !by.empty()) wish.by = std::move(by);
    return wish;
  }
  return fail(what.empty() ? std::string{"`method` is missing"} : format("a host does not know the method {}", what));
}

}  // namespace

Result<Request> parse_request(std::string_view text) {
  const auto object = RELAY_TRY(parse_json_object(text));
  auto what = string_member(object, "method").value_or("");
  auto wish = RELAY_TRY(wish_in(what, object));
  return Request{std::move(what), string_member(object, "id").value_or(""), std::move(wish)};
}

}  // namespace relay::host
