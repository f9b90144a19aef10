#include "fake_claude/claude.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/format.h"

namespace relay::fake_claude {
namespace {

using scripted_agent::Key;

constexpr std::size_t kRowsAbove = 12;

json::string_view text_of(std::string_view text) { return {text.data(), text.size()}; }

std::string rule_line() {
  std::string line;
  for (int i = 0; i < 80; ++i) line += "─";
  return line;
}

}  // namespace

std::vector<Rule> read_rules(const std::string& path) {
  std::ifstream file{path};
  const auto script = parse_json_object(std::string{std::istreambuf_iterator<char>{file}, {}});
  std::vector<Rule> rules;
  if (const auto* list = script ? array_member(*script, "rules") : nullptr)
    for (const auto& each : *list) {
      const auto& object = each.as_object();
      Rule rule{.contains = string_member(object, "contains").value_or("")};
      rule.reply = string_member(object, "reply").value_or(rule.reply);
      rule.tool = string_member(object, "tool").value_or("");
      rule.needs_permission = bool_member(object, "asks").value_or(false);
      rule.question = string_member(object, "question").value_or("");
      if (const auto* choices = array_member(object, "choices"))
        for (const auto& choice : *choices) rule.choices.emplace_back(choice.as_string());
      rule.mode = string_member(object, "mode").value_or("");
      rule.unrecorded = bool_member(object, "unrecorded").value_or(false);
      rule.ends = bool_member(object, "ends").value_or(false);
      rule.work = Millis{integer_member(object, "work_ms").value_or(50)};
      rules.push_back(std::move(rule));
    }
  return rules;
}

Claude::Claude(Hooks hooks, SessionFiles files, std::vector<Rule> rules, const scripted_agent::Journal& journal)
    : hooks_{std::move(hooks)}, files_{std::move(files)}, rules_{std::move(rules)}, journal_{journal} {}

void Claude::start() {
  journal_.note("start", {{"pid", ::getpid()}});
  output_ += "\x1b[?1049h\x1b[?2004h";
  hooks_.call("SessionStart", payload("SessionStart", {{"source", "startup"}, {"model", "claude-opus-5-5"}})).finish();
  conversation_.emplace_back("Fake Claude Code");
  draw();
}

void Claude::on_key(const Key& key, SteadyTime now) {
  if (key.kind == Key::Kind::ControlC) finished_ = true;
  if (state_ == State::Blocked) {
    if (key.kind == Key::Kind::Enter) decide(true, "user");
    if (key.kind == Key::Kind::Escape) decide(false, "user");
    return draw();
  }
  switch (key.kind) {
    case Key::Kind::Text: composer_ += key.text; break;
    case Key::Kind::Paste:
      journal_.note("paste", {{"text", key.text}});
      composer_ += key.text;
      break;
    case Key::Kind::Backspace:
      if (!composer_.empty()) composer_.pop_back();
      break;
    case Key::Kind::Enter: {
      if (composer_.empty()) break;
      journal_.note("submit", {{"text", composer_}});
      pending_.push_back({.text = std::exchange(composer_, {})});
      if (state_ == State::Idle) on_time(now);
      break;
    }
    default: break;
  }
  draw();
}

void Claude::on_inbox_message(const InboxMessage& message, SteadyTime now) {
  journal_.note("inbox", {{"text", message.text}, {"now", message.now}});
  if (message.now && state_ == State::Working) {
    journal_.note("interrupted");
    state_ = State::Idle;
  }
  pending_.insert(message.now ? pending_.begin() : pending_.end(), {.text = message.text, .by_peer = true});
  if (state_ == State::Idle) on_time(now);
}

void Claude::on_time(SteadyTime now) {
  if (state_ == State::Working && now >= done_at_) finish_work();
  if (state_ == State::Idle && !pending_.empty()) {
    const auto next = pending_.front();
    pending_.pop_front();
    start_turn(next, now);
  }
  draw();
}

void Claude::start_turn(const Prompt& prompt, SteadyTime now) {
  const auto matches = [&](const Rule& rule) { return prompt.text.find(rule.contains) != std::string::npos; };
  const auto found = std::ranges::find_if(rules_, matches);
  rule_ = found == rules_.end() ? Rule{} : *found;
  if (!rule_.mode.empty()) mode_ = rule_.mode;
  journal_.note("model_input", {{"text", prompt.text}, {"by", prompt.by_peer ? "peer" : "user"}});
  if (!rule_.unrecorded) {
    const auto answer =
        hooks_.call("UserPromptSubmit", payload("UserPromptSubmit", {{"prompt", prompt.text}})).finish();
    prompt.by_peer ? files_.add_peer_message(prompt.text) : files_.add_user_prompt(prompt.text);
    take_context("UserPromptSubmit", answer);
  }
  conversation_.push_back("❯ " + prompt.text);
  state_ = State::Working;
  done_at_ = now + rule_.work;
}

void Claude::finish_work() {
  if (!rule_.question.empty()) return open_dialog(rule_.question);
  if (rule_.tool.empty()) return reply(rule_.reply);
  tool_ = files_.add_tool_call(rule_.tool);
  hooks_.call("PreToolUse", tool_payload("PreToolUse")).finish();
  rule_.needs_permission ? open_dialog(rule_.tool) : decide(true, "rule");
}

void Claude::open_dialog(std::string_view title) {
  state_ = State::Blocked;
  journal_.note("dialog", {{"text", text_of(title)}});
  permission_ = hooks_.call("PermissionRequest", tool_payload("PermissionRequest"));
}

void Claude::on_hook_ready(SteadyTime) {
  const auto answer = permission_.finish();
  const auto* decision = object_member(answer, "decision");
  if (decision == nullptr || state_ != State::Blocked) return;  // the user decides
  auto message = string_member(*decision, "message").value_or("");
  if (const auto* input = object_member(*decision, "updatedInput"))
    if (const auto* answers = object_member(*input, "answers")) message = json::serialize(*answers);
  decide(string_member(*decision, "behavior") == "allow", "hook", message);
  draw();
}

void Claude::decide(bool allowed, std::string_view by, std::string_view message) {
  permission_ = HookCall{};
  journal_.note("answer",
                {{"decision", allowed ? "approved" : "denied"}, {"by", text_of(by)}, {"text", text_of(message)}});
  if (!allowed && rule_.question.empty()) files_.add_tool_denial(tool_);
  if (!allowed) return reply(rule_.denied);
  if (!rule_.question.empty()) return reply(rule_.reply);
  journal_.note("ran", {{"text", rule_.tool}});
  files_.add_tool_result(tool_, "done");
  take_context("PostToolUse", hooks_.call("PostToolUse", tool_payload("PostToolUse")).finish());
  reply(rule_.reply);
}

void Claude::reply(const std::string& text) {
  files_.add_text(text);
  if (rule_.ends) {
    files_.add_user_prompt("a prompt without a reply");
    finished_ = true;
    return;
  }
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    conversation_.push_back((at == 0 ? "● " : "  ") + text.substr(at, end - at));
    at = end + 1;
  }
  journal_.note("replied", {{"text", text}});
  hooks_.call("Stop", payload("Stop", {{"stop_hook_active", false}, {"last_assistant_message", text}})).finish();
  files_.add_turn_end();
  state_ = State::Idle;
}

void Claude::take_context(std::string_view event, const json::object& answer) {
  const auto context = string_member(answer, "additionalContext").value_or("");
  if (context.empty()) return;
  files_.add_hook_context(event, context);
  journal_.note("model_input", {{"text", context}, {"by", text_of(event)}});
}

json::object Claude::payload(std::string_view event, json::object more) const {
  more["session_id"] = files_.session();
  more["transcript_path"] = files_.transcript();
  more["cwd"] = std::filesystem::current_path().string();
  if (event != "SessionStart" && event != "SessionEnd" && event != "Notification") more["permission_mode"] = mode_;
  more["hook_event_name"] = text_of(event);
  return more;
}

json::object Claude::tool_payload(std::string_view event) const {
  if (!rule_.question.empty()) {
    json::array options;
    for (const auto& choice : rule_.choices) options.push_back({{"label", choice}, {"description", ""}});
    const json::object question{
        {"question", rule_.question}, {"header", "Choice"}, {"options", options}, {"multiSelect", false}};
    return payload(event, {{"tool_name", "AskUserQuestion"}, {"tool_input", {{"questions", json::array{question}}}}});
  }
  json::object more{{"tool_name", "Bash"},
                    {"tool_input", {{"command", rule_.tool}, {"description", "from the script"}}}};
  if (event != "PermissionRequest") more["tool_use_id"] = tool_;
  if (event == "PostToolUse") more["tool_response"] = {{"stdout", "done"}, {"stderr", ""}, {"interrupted", false}};
  return payload(event, std::move(more));
}

std::optional<SteadyTime> Claude::wake_at() const {
  if (state_ == State::Working) return done_at_;
  if (state_ == State::Idle && !pending_.empty()) return SteadyTime{};
  return std::nullopt;
}

void Claude::draw() {
  output_ += state_ == State::Working ? "\x1b]0;◐ claude\a" : "\x1b]0;✳ claude\a";
  output_ += "\x1b[H\x1b[2J";
  const auto first = conversation_.size() > kRowsAbove ? conversation_.size() - kRowsAbove : 0;
  for (auto i = first; i < conversation_.size(); ++i) output_ += conversation_[i].substr(0, 78) + "\r\n";
  output_ += "\r\n";
  if (state_ == State::Blocked) {
    output_ += rule_line() + "\r\n Bash command\r\n\r\n   " + rule_.tool +
               "\r\n\r\n Do you want to proceed?\r\n ❯ 1. Yes\r\n   2. No\r\n\r\n Esc to cancel";
    return;
  }
  if (state_ == State::Working) output_ += "✻ Brewing… (1s · ↓ 30 tokens)\r\n\r\n";
  output_ += rule_line() + "\r\n❯ " + composer_ +
             "\x1b"
             "7\r\n" +
             rule_line() +
             "\r\n  ? for shortcuts\x1b"
             "8";
}

}  // namespace relay::fake_claude
