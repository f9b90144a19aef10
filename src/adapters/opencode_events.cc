#include "adapters/opencode_events.h"

#include <algorithm>
#include <array>

#include "adapters/opencode_parts.h"
#include "base/format.h"
#include "text/utf8.h"

namespace relay::adapters {
namespace {

using profiles::State;

constexpr std::size_t kMaxSessions = 512;
constexpr std::size_t kMaxMessages = 512;
constexpr std::size_t kMaxParts = 2'048;            // of one message
constexpr std::size_t kMaxTextBytes = 1U << 20U;    // a longer one is no word for anybody
constexpr std::size_t kMaxInputBytes = 128 * 1024;  // of a prompt
constexpr std::size_t kMaxPrompts = 64;
constexpr std::size_t kMaxQuestions = 16;
constexpr std::size_t kMaxChoices = 64;

std::string text_of(const json::object& object, std::string_view name) {
  return string_member(object, name).value_or(std::string{});
}

const json::object& object_of(const json::object& object, std::string_view name) {
  static const json::object kNothing;
  const auto* found = object_member(object, name);
  return found != nullptr ? *found : kNothing;
}

std::int64_t count_of(const json::object& object, std::string_view name) {
  return std::max<std::int64_t>(0, integer_member(object, name).value_or(0));
}

bool is_true(const json::object& object, std::string_view name) { return bool_member(object, name).value_or(false); }

/// A part that the model wrote, or that says it went on: behind it, what came before is complete.
bool goes_past(std::string_view type) {
  constexpr std::array<std::string_view, 4> kTypes = {"text", "tool", "reasoning", "step-finish"};
  return std::ranges::find(kTypes, type) != kTypes.end();
}

Question question_of(const json::object& asked) {
  Question question{.text = text_of(asked, "question"), .several = is_true(asked, "multiple")};
  if (const auto* options = array_member(asked, "options"))
    for (const auto& option : *options)
      if (option.is_object() && question.choices.size() < kMaxChoices)
        question.choices.push_back(text_of(option.get_object(), "label"));
  return question;
}

/// How OpenCode titles its window: a session without a title of its own has the title of the start page, a long title is cut.
constexpr std::string_view kUntitledWindow = "OpenCode";
constexpr std::string_view kTitledWindow = "OC | ";
constexpr std::string_view kCutTitle = "...";
constexpr std::string_view kDefaultTitles[] = {"New session - ", "Child session - "};  // with the time

bool fits_window(std::string_view title, std::string_view window) {
  if (std::ranges::any_of(kDefaultTitles, [&](std::string_view each) { return title.starts_with(each); }))
    return window == kUntitledWindow;
  if (!window.starts_with(kTitledWindow)) return false;
  window.remove_prefix(kTitledWindow.size());
  if (window == title) return true;
  return window.ends_with(kCutTitle) && title.starts_with(window.substr(0, window.size() - kCutTitle.size()));
}

void for_each_object(const json::array& list, auto&& take) {
  for (const auto& each : list)
    if (each.is_object()) take(each.get_object());
}

}  // namespace

void OpenCodeEvents::on_event(const json::object& event) {
  const auto type = text_of(event, "type");
  const auto& properties = object_of(event, "properties");
  const auto session = text_of(properties, "sessionID");
  const auto before = known();
  latest_ = std::max(latest_, count_of(properties, "time"));
  if (type == "message.updated")
    on_message(object_of(properties, "info"));
  else if (type == "message.part.updated")
    on_part(object_of(properties, "part"));
  else if (type == "message.part.delta")
    on_delta(properties);
  else if (type == "message.removed")
    messages_.erase(text_of(properties, "messageID"));
  else if (type == "session.created" || type == "session.updated")
    on_session(object_of(properties, "info"), type == "session.created");
  else if (type == "session.deleted")
    forget_session(text_of(object_of(properties, "info"), "id"));
  else if (type == "session.status")
    on_status(session, object_of(properties, "status"));
  else if (type == "session.idle")
    on_status(session, {});
  else if (type == "session.error")
    on_error(properties);
  else if (type == "permission.asked")
    on_permission(properties);
  else if (type == "question.asked")
    on_question(properties);
  else if (type == "permission.replied")
    close(text_of(properties, "requestID"),
          text_of(properties, "reply") == "reject" ? PromptAnswer::Decision::Deny : PromptAnswer::Decision::Allow);
  else if (type == "question.replied" || type == "question.rejected")
    close(text_of(properties, "requestID"),
          type == "question.rejected" ? PromptAnswer::Decision::Deny : PromptAnswer::Decision::Allow);
  notify_if_changed(before);
}

void OpenCodeEvents::on_messages(std::string_view session, const json::array& messages, WallMs elsewhere_since) {
  for_each_object(messages, [&](const json::object& message) {
    const auto& info = object_of(message, "info");
    const auto id = text_of(info, "id");
    const auto& time = object_of(info, "time");
    if (text_of(info, "sessionID") != session || complete_.has(id) || count_of(time, "created") < since_) return;
    if (time.contains("completed") && count_of(time, "completed") >= elsewhere_since) {
      complete_.add(id);
      return;
    }
    learn(info);
    if (const auto* parts = array_member(message, "parts"))
      for_each_object(*parts, [&](const json::object& part) { on_part(part); });
    finish(info);
  });
}

void OpenCodeEvents::on_statuses(const json::object& statuses) {
  const auto before = known();
  for (auto& [id, session] : sessions_) session.status.clear(), session.says.clear();
  for (const auto& [id, status] : statuses)
    if (status.is_object()) on_status(std::string_view{id}, status.get_object());
  notify_if_changed(before);
}

void OpenCodeEvents::on_prompts(const json::array& permissions, const json::array& questions) {
  const auto before = known();
  std::vector<std::string> open;
  for (const auto* list : {&permissions, &questions})
    for_each_object(*list, [&](const json::object& request) { open.push_back(text_of(request, "id")); });
  const auto known_before = asked_;
  for (const auto& each : known_before)
    if (std::ranges::find(open, each.request) == open.end()) close(each.request);
  for_each_object(permissions, [&](const json::object& request) { on_permission(request); });
  for_each_object(questions, [&](const json::object& request) { on_question(request); });
  notify_if_changed(before);
}

void OpenCodeEvents::on_sessions(const json::array& sessions, bool newest_is_ours) {
  std::string newest;
  for_each_object(sessions, [&](const json::object& info) {
    on_session(info, false);
    const bool ours = newest_is_ours || count_of(object_of(info, "time"), "created") >= since_;
    if (newest.empty() && ours && !is_child(text_of(info, "id"))) newest = text_of(info, "id");
  });
  if (current_.empty() && !left_) current_ = newest;
}

void OpenCodeEvents::forget_session(std::string_view id) {
  if (const auto found = sessions_.find(id); found != sessions_.end()) sessions_.erase(found);
  if (current_ == id) current_.clear();
}

void OpenCodeEvents::leave_session() {
  const auto before = known();
  current_.clear();
  left_ = true;
  notify_if_changed(before);
}

bool OpenCodeEvents::is_elsewhere(std::string_view window_title) const {
  const auto found = sessions_.find(current_);
  const bool is_told = window_title == kUntitledWindow || window_title.starts_with(kTitledWindow);
  if (!is_told || found == sessions_.end() || found->second.title.empty()) return false;
  return !fits_window(found->second.title, window_title) && std::ranges::none_of(sessions_, [&](const auto& each) {
    return each.second.child && fits_window(each.second.title, window_title);
  });
}

bool OpenCodeEvents::busy() const {
  const auto found = sessions_.find(current_);
  return found != sessions_.end() && !found->second.status.empty();
}

ReportedState OpenCodeEvents::known() const {
  if (!asked_.empty()) return {State::Blocked, "asks: " + asked_.front().prompt.summary};
  const auto found = sessions_.find(current_);
  if (found == sessions_.end() || found->second.status.empty()) return {State::Idle, {}};
  return {State::Working, found->second.says};
}

OpenCodeSelection OpenCodeEvents::choice() const {
  const auto found = sessions_.find(current_);
  return found == sessions_.end() ? OpenCodeSelection{} : found->second.choice;
}

const OpenCodeEvents::OpenPrompt* OpenCodeEvents::asked(const std::string& prompt) const {
  const auto found = std::ranges::find(asked_, prompt, [](const OpenPrompt& each) { return each.prompt.id; });
  return found == asked_.end() ? nullptr : &*found;
}

void OpenCodeEvents::set_answered(const std::string& prompt, bool answered) {
  const auto found = std::ranges::find(asked_, prompt, [](const OpenPrompt& each) { return each.prompt.id; });
  if (found != asked_.end()) found->answered = answered;
}

void OpenCodeEvents::fall_back_to_screen() {
  for (const auto& each : std::exchange(asked_, {}))
    listener_.on_prompt_closed(each.prompt.id, {.by = "nobody: its server is gone", .still_asked = true});
}

void OpenCodeEvents::gone(const std::string& prompt) {
  const auto before = known();
  set_answered(prompt, false);
  if (const auto* open = asked(prompt)) close(std::string{open->request});
  notify_if_changed(before);
}

void OpenCodeEvents::close(std::string_view request, std::optional<PromptAnswer::Decision> verdict) {
  const auto found = std::ranges::find(asked_, request, &OpenPrompt::request);
  if (found == asked_.end()) return;
  const auto closed = std::move(*found);
  asked_.erase(found);
  listener_.on_prompt_closed(closed.prompt.id, {.by = closed.answered ? way::kServer : "user", .verdict = verdict});
}

OpenCodeEvents::Session& OpenCodeEvents::find_session(std::string_view id) {
  if (const auto found = sessions_.find(id); found != sessions_.end()) return found->second;
  if (sessions_.size() >= kMaxSessions)
    sessions_.erase(sessions_.begin()->first == current_ ? std::next(sessions_.begin()) : sessions_.begin());
  return sessions_[std::string{id}];
}

bool OpenCodeEvents::is_child(std::string_view id) const {
  const auto found = sessions_.find(id);
  return found != sessions_.end() && found->second.child;
}

OpenCodeEvents::Message& OpenCodeEvents::find_message(std::string_view id, std::string_view session) {
  if (const auto found = messages_.find(id); found != messages_.end()) return found->second;
  if (messages_.size() >= kMaxMessages) messages_.erase(messages_.begin());
  auto& made = messages_[std::string{id}];
  made.session = session;
  return made;
}

void OpenCodeEvents::on_session(const json::object& info, bool created) {
  const auto id = text_of(info, "id");
  if (id.empty()) return;
  auto& session = find_session(id);
  session.child = info.contains("parentID");
  if (auto title = text_of(info, "title"); !title.empty()) session.title = std::move(title);
  const auto& model = object_of(info, "model");
  if (auto agent = text_of(info, "agent"); !agent.empty())
    session.choice = {std::move(agent), text_of(model, "providerID"), text_of(model, "id"), text_of(model, "variant")};
  if (created && !session.child) current_ = id;
}

void OpenCodeEvents::on_message(const json::object& info) {
  if (complete_.has(text_of(info, "id"))) return;
  learn(info);
  finish(info);
}

void OpenCodeEvents::learn(const json::object& info) {
  const auto id = text_of(info, "id");
  const auto session = text_of(info, "sessionID");
  if (id.empty() || session.empty() || is_child(session) || given_.has(id)) return;
  auto& message = find_message(id, session);
  const bool unknown = message.role.empty();
  message.role = text_of(info, "role");
  message.parent = text_of(info, "parentID");
  if (message.role == "assistant") {
    if (is_true(info, "summary")) message.role = "summary";  // of the conversation, for the model itself
    return;
  }
  if (message.role != "user") return;
  const auto& model = object_of(info, "model");
  find_session(session).choice = {text_of(info, "agent"), text_of(model, "providerID"), text_of(model, "modelID"),
                                  text_of(model, "variant")};
  if (unknown) current_ = session;
}

void OpenCodeEvents::finish(const json::object& info) {
  const auto id = text_of(info, "id");
  const auto found = messages_.find(id);
  if (found == messages_.end() || found->second.role == "user") return;
  auto& message = found->second;
  const bool failed = info.contains("error");
  if (!failed) hear(message, info.contains("finish") || object_of(info, "time").contains("completed"));
  if (!failed && !object_of(info, "time").contains("completed")) return;

  const auto& tokens = object_of(info, "tokens");
  const auto& cache = object_of(tokens, "cache");
  TokenUsage usage{.id = id,
                   .model = text_of(info, "modelID"),
                   .input = count_of(tokens, "input"),
                   .output = count_of(tokens, "output"),
                   .cache_read = count_of(cache, "read"),
                   .cache_write = count_of(cache, "write"),
                   .reasoning = count_of(tokens, "reasoning"),
                   .cost = number_member(info, "cost")};
  complete_.add(id);
  messages_.erase(found);
  if (usage.input + usage.output + usage.cache_read + usage.cache_write + usage.reasoning == 0) return;
  listener_.on_usage(usage);
  take(transcripts::TokenUsage{.id = usage.id,
                               .model = usage.model,
                               .input = usage.input,
                               .cache_read = usage.cache_read,
                               .cache_write = usage.cache_write,
                               .output = usage.output,
                               .reasoning = usage.reasoning,
                               .cost = usage.cost},
       count_of(object_of(info, "time"), "completed"));
}

void OpenCodeEvents::take(const transcripts::Entry& entry, WallMs at) {
  latest_ = std::max(latest_, at);
  tell(activity_.take(entry, at != 0 ? at : now()));
}

void OpenCodeEvents::tell(const activity::TimedEvents& all) {
  for (const auto& [event, when] : all) listener_.on_event(event, when);
}

void OpenCodeEvents::on_ended(WallMs at) { tell(activity_.end("the agent has ended", at)); }

/// A call is told with what it was given, which is known once it runs, and to its end once.
void OpenCodeEvents::do_tool(const json::object& part) {
  const auto use = tool_use_in(part);
  if (!use || done_.has(use->tool.id)) return;
  if (begun_.add(use->tool.id)) take(use->tool, use->began);
  if (!use->result) return tell(activity_.take_output(use->tool.id, use->printed, now()));
  done_.add(use->tool.id);
  if (use->command) take(*use->command, use->ended);
  if (use->change) take(*use->change, use->ended);
  take(*use->result, use->ended);
}

void OpenCodeEvents::end_turn(transcripts::TurnOutcome ending) { take(transcripts::TurnEnded{.outcome = ending}, 0); }

void OpenCodeEvents::on_part(const json::object& part) {
  const auto id = text_of(part, "id");
  const auto message_id = text_of(part, "messageID");
  const auto session = text_of(part, "sessionID");
  const auto type = text_of(part, "type");
  if (id.empty() || message_id.empty() || session.empty() || is_child(session)) return;
  if (complete_.has(message_id) || given_.has(message_id)) return;
  auto& message = find_message(message_id, session);
  if (message.role == "assistant") given(session, message.parent);
  if (!goes_past(type) || (message.parts.size() >= kMaxParts && !message.parts.contains(id))) return;
  auto& kept = message.parts[id];
  kept.type = type;
  const bool ended = message.role == "user" || object_of(part, "time").contains("end");
  if (type == "tool") do_tool(part);
  if (type == "reasoning" && ended && heard_.add(id))
    take(transcripts::Thought{.id = id, .text = text_of(part, "text")}, count_of(object_of(part, "time"), "end"));
  if (type == "text" && ended && !is_true(part, "synthetic") && !is_true(part, "ignored")) {
    const auto* text = part.if_contains("text");
    if (text != nullptr && text->is_string() && text->get_string().size() <= kMaxTextBytes)
      kept = {.type = type, .text = std::string{text->get_string()}, .at = count_of(object_of(part, "time"), "end")};
  }
  if (message.role == "assistant") hear(message, false);
}

/// A piece of a text or of a thought. It comes without a time; the part itself was told before it.
void OpenCodeEvents::on_delta(const json::object& delta) {
  const auto message = messages_.find(text_of(delta, "messageID"));
  if (message == messages_.end() || message->second.role != "assistant" || text_of(delta, "field") != "text") return;
  const auto part = message->second.parts.find(text_of(delta, "partID"));
  if (part == message->second.parts.end() || heard_.has(part->first)) return;
  const auto text = text_of(delta, "delta");
  if (part->second.type == "text" || part->second.type == "reasoning")
    tell(activity_.take(activity::TextChunk{.type = part->second.type == "text" ? events::ItemType::Message
                                                                                : events::ItemType::Thinking,
                                            .id = part->first,
                                            .text = text},
                        now()));
}

void OpenCodeEvents::on_status(std::string_view session, const json::object& status) {
  if (session.empty()) return;
  const auto type = text_of(status, "type");
  auto& kept = find_session(session);
  kept.status = type == "idle" ? std::string{} : type;
  kept.says = text_of(status, "message");
  if (kept.status.empty() && session == current_) end_turn(transcripts::TurnOutcome::Done);
}

void OpenCodeEvents::on_error(const json::object& properties) {
  const auto& error = object_of(properties, "error");
  const auto name = text_of(error, "name");
  if (is_child(text_of(properties, "sessionID"))) return;
  const bool aborted = name == "MessageAbortedError";
  end_turn(aborted ? transcripts::TurnOutcome::Interrupted : transcripts::TurnOutcome::Failed);
  if (aborted) return;
  const auto message = text_of(object_of(error, "data"), "message");
  if (const auto& what = message.empty() ? name : message; !what.empty()) listener_.on_failure(what, way::kServer);
}

void OpenCodeEvents::on_permission(const json::object& request) {
  const auto& input = object_of(request, "metadata");
  const auto tool = text_of(request, "permission");
  auto summary = summary_of(tool, input);
  if (const auto* patterns = array_member(request, "patterns"); input.empty() && patterns != nullptr)
    summary = summary_of(tool, {{"pattern", patterns->empty() ? json::value{""} : patterns->front()}});
  const auto whole = json::serialize(input);
  // Of several files one name would be judged; commands are all in the one line.
  const auto* asked_of = array_member(request, "patterns");
  const bool several = tool != "bash" && asked_of != nullptr && asked_of->size() > 1;
  ask({.prompt = {.kind = PromptKind::Permission,
                  .tool = tool,
                  .summary = std::move(summary),
                  .input = std::string{text::truncate_utf8(whole, kMaxInputBytes)},
                  .partial = several || whole.size() > kMaxInputBytes,
                  .via = way::kServer},
       .request = text_of(request, "id"),
       .session = text_of(request, "sessionID")});
}

void OpenCodeEvents::on_question(const json::object& request) {
  OpenPrompt asked{.prompt = {.kind = PromptKind::Question, .tool = "question", .via = way::kServer},
                   .request = text_of(request, "id"),
                   .session = text_of(request, "sessionID")};
  if (const auto* questions = array_member(request, "questions")) {
    for_each_object(*questions, [&](const json::object& each) {
      if (asked.prompt.questions.size() < kMaxQuestions) asked.prompt.questions.push_back(question_of(each));
    });
    asked.prompt.input = text::truncate_utf8(json::serialize(*questions), kMaxInputBytes);
  }
  if (!asked.prompt.questions.empty())
    asked.prompt.summary = summary_of("question", {{"query", asked.prompt.questions.front().text}});
  ask(std::move(asked));
}

void OpenCodeEvents::ask(OpenPrompt asked) {
  if (asked.request.empty() || asked_.size() >= kMaxPrompts) return;
  if (std::ranges::find(asked_, asked.request, &OpenPrompt::request) != asked_.end()) return;
  asked.prompt.id = format("p{}", ++last_prompt_);
  asked_.push_back(std::move(asked));
  const auto prompt = asked_.back().prompt;
  listener_.on_prompt(prompt);
}

void OpenCodeEvents::hear(Message& message, bool complete) {
  if (message.role != "assistant") return;
  for (auto part = message.parts.begin(); part != message.parts.end(); ++part) {
    const bool past = complete || std::next(part) != message.parts.end();
    if (!past || part->second.text.empty()) continue;
    const auto text = std::exchange(part->second.text, {});
    if (!heard_.add(part->first)) continue;
    listener_.on_assistant_text(text, way::kServer);
    take(transcripts::Text{.id = part->first, .text = text}, part->second.at);
  }
}

void OpenCodeEvents::given(std::string_view session, std::string_view up_to) {
  std::vector<std::pair<std::string, std::string>> texts;  // with the message's id
  for (auto each = messages_.begin(); each != messages_.end() && each->first <= up_to;) {
    if (each->second.role != "user" || each->second.session != session) {
      ++each;
      continue;
    }
    for (auto& [id, part] : each->second.parts)
      if (!part.text.empty()) texts.emplace_back(std::move(part.text), each->first);
    given_.add(each->first);
    each = messages_.erase(each);
  }
  for (const auto& [text, message] : texts) listener_.on_model_input(text, way::kServer, message);
}

void OpenCodeEvents::notify_if_changed(const ReportedState& before) {
  const auto now = known();
  if (now.state != before.state || now.says != before.says) listener_.on_state_reported();
}

}  // namespace relay::adapters
