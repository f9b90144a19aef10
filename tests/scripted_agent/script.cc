#include "scripted_agent/script.h"

#include <regex>

#include "base/format.h"
#include "base/json.h"

namespace relay::scripted_agent {
namespace {

Result<Dialog> parse_dialog(const json::object& object) {
  Dialog dialog;
  const auto kind = string_member(object, "kind").value_or("permission");
  if (kind != "permission" && kind != "question") return fail(format("a dialog cannot be '{}'", kind));
  dialog.kind = kind == "question" ? Dialog::Kind::Question : Dialog::Kind::Permission;
  dialog.title = string_member(object, "title").value_or("Do you want to proceed?");
  if (const auto* options = array_member(object, "options"))
    for (const auto& option : *options)
      if (option.is_string()) dialog.options.emplace_back(option.get_string());
  if (dialog.options.empty()) dialog.options = {"Yes", "No"};
  return dialog;
}

std::optional<int> parse_exit(const json::object& object) {
  const auto code = integer_member(object, "exit");
  return code ? std::optional{static_cast<int>(*code)} : std::nullopt;
}

Result<Moment> parse_moment(const json::object& object) {
  Moment moment;
  const auto when = string_member(object, "when").value_or("");
  if (when == "start")
    moment.when = Moment::When::Start;
  else if (when == "before_paste")
    moment.when = Moment::When::BeforePaste;
  else if (when == "after_paste")
    moment.when = Moment::When::AfterPaste;
  else
    return fail(format("'{}' is none of start, before_paste, after_paste", when));
  if (const auto after = integer_member(object, "after_ms")) moment.after = Millis{*after};
  moment.exit_code = parse_exit(object);
  if (const auto* dialog = object_member(object, "dialog")) moment.dialog = RELAY_TRY(parse_dialog(*dialog));
  if (moment.dialog.has_value() == moment.exit_code.has_value()) return fail("it needs a dialog or an exit");
  return moment;
}

Result<Answer> parse_answer(const json::object& object) {
  Answer answer;
  if (auto reply = string_member(object, "reply")) answer.reply = *reply;
  if (auto denied = string_member(object, "denied")) answer.denied = *denied;
  if (const auto work = integer_member(object, "work_ms")) answer.work = Millis{*work};
  if (const auto pause = integer_member(object, "chunk_ms")) answer.chunk_pause = Millis{*pause};
  if (const auto size = integer_member(object, "chunk"); size && *size > 0)
    answer.chunk_characters = static_cast<std::size_t>(*size);
  if (const auto* dialog = object_member(object, "dialog")) answer.dialog = RELAY_TRY(parse_dialog(*dialog));
  answer.exit_code = parse_exit(object);
  return answer;
}

Result<Rule> parse_rule(const json::object& object) {
  Rule rule{.match = Rule::Match::Contains, .pattern = {}, .answer = RELAY_TRY(parse_answer(object))};
  if (const auto text = string_member(object, "contains")) {
    rule.pattern = *text;
    return rule;
  }
  const auto pattern = string_member(object, "matches");
  if (!pattern) return fail("it has neither 'contains' nor 'matches'");
  rule.match = Rule::Match::Regex;
  rule.pattern = *pattern;
  try {
    const std::regex compiled{rule.pattern};
  } catch (const std::regex_error& error) {
    return fail(format("'{}' is no regular expression: {}", rule.pattern, error.what()));
  }
  return rule;
}

template <class T>
Result<void> parse_each(const json::object& object, const char* list, Result<T> (*parse)(const json::object&),
                        std::vector<T>& into) {
  const auto* entries = array_member(object, list);
  if (entries == nullptr) return {};
  for (const auto& each : *entries) {
    const auto* members = each.if_object();
    auto parsed = members != nullptr ? parse(*members) : Result<T>{fail("it is no object")};
    if (!parsed) return fail(format("{}, entry {}: {}", list, into.size() + 1, parsed.error().message()));
    into.push_back(std::move(*parsed));
  }
  return {};
}

bool matches(const Rule& rule, std::string_view prompt) {
  switch (rule.match) {
    case Rule::Match::Contains: return prompt.contains(rule.pattern);
    case Rule::Match::Regex: return std::regex_search(prompt.begin(), prompt.end(), std::regex{rule.pattern});
  }
  return false;
}

}  // namespace

const Answer& Script::find_answer(std::string_view prompt) const {
  for (const auto& rule : rules)
    if (matches(rule, prompt)) return rule.answer;
  return default_answer;
}

Result<Script> parse_script(std::string_view text) {
  const auto object = RELAY_TRY(parse_json_object(text));
  Script script;
  if (const auto* default_answer = object_member(object, "default"))
    script.default_answer = RELAY_TRY(parse_answer(*default_answer));
  RELAY_TRY(parse_each(object, "rules", parse_rule, script.rules));
  RELAY_TRY(parse_each(object, "moments", parse_moment, script.moments));
  return script;
}

}  // namespace relay::scripted_agent
