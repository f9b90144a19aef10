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
constexpr std::size_t kMaxTextBytes = 1U << 20U;    // longer texts are not reported
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

/// A part that the model wrote, or that ends a step: the parts before it are complete.
bool ends_previous_part(std::string_view type) {
  constexpr std::array<std::string_view, 4> kTypes = {"text", "tool", "reasoning", "step-finish"};
  return std::ranges::find(kTypes, type) != kTypes.end();
}

Question parse_question(const json::object& object) {
  Question question{.text = text_of(object, "question"), .multiple = is_true(object, "multiple")};
  if (const auto* options = array_member(object, "options"))
    for (const auto& option : *options)
      if (option.is_object() && question.choices.size() < kMaxChoices)
        question.choices.push_back(text_of(option.get_object(), "label"));
  return question;
}

/// OpenCode's window titles: a session without its own title has that of the start page, a long title is cut.
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
  const auto before = reported_state();
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
          text_of(properties, "reply") == "reject" ? PromptAnswer::Decision::Deny : PromptAnswer::Decision::Approve);
  else if (type == "question.replied" || type == "question.rejected")
    close(text_of(properties, "requestID"),
          type == "question.rejected" ? PromptAnswer::Decision::Deny : PromptAnswer::Decision::Approve);
  notify_if_changed(before);
}

void OpenCodeEvents::on_messages(std::string_view session, const json::array& messages, WallMs fallback_since) {
  for_each_object(messages, [&](const json::object& message) {
    const auto& info = object_of(message, "info");
    const auto id = text_of(info, "id");
    const auto& time = object_of(info, "time");
    if (text_of(info, "sessionID") != session || completed_messages_.has(id) || count_of(time, "created") < since_)
      return;
    if (time.contains("completed") && count_of(time, "completed") >= fallback_since) {
      completed_messages_.add(id);
      return;
    }
    update_message(info);
    if (const auto* parts = array_member(message, "parts"))
      for_each_object(*parts, [&](const json::object& part) { on_part(part); });
    finish(info);
  });
}

void OpenCodeEvents::on_statuses(const json::object& statuses) {
  const auto before = reported_state();
  for (auto& [id, session] : sessions_) session.status.clear(), session.detail.clear();
  for (const auto& [id, status] : statuses)
    if (status.is_object()) on_status(std::string_view{id}, status.get_object());
  notify_if_changed(before);
}

void OpenCodeEvents::on_prompts(const json::array& permissions, const json::array& questions) {
  const auto before = reported_state();
  std::vector<std::string> open;
  for (const auto* list : {&permissions, &questions})
    for_each_object(*list, [&](const json::object& request) { open.push_back(text_of(request, "id")); });
  const auto earlier = prompts_;
  for (const auto& each : earlier)
    if (std::ranges::find(open, each.request) == open.end()) close(each.request);
  for_each_object(permissions, [&](const json::object& request) { on_permission(request); });
  for_each_object(questions, [&](const json::object& request) { on_question(request); });
  notify_if_changed(before);
}

void OpenCodeEvents::on_sessions(const json::array& sessions, bool continues) {
  std::string newest;
  for_each_object(sessions, [&](const json::object& info) {
    on_session(info, false);
    const bool eligible = continues || count_of(object_of(info, "time"), "created") >= since_;
    if (newest.empty() && eligible && !is_child(text_of(info, "id"))) newest = text_of(info, "id");
  });
  if (current_.empty() && !left_) current_ = newest;
}

void OpenCodeEvents::forget_session(std::string_view id) {
  if (const auto found = sessions_.find(id); found != sessions_.end()) sessions_.erase(found);
  if (current_ == id) current_.clear();
}

void OpenCodeEvents::leave_session() {
  const auto before = reported_state();
  current_.clear();
  left_ = true;
  notify_if_changed(before);
}

bool OpenCodeEvents::shows_other_session(std::string_view window_title) const {
  const auto found = sessions_.find(current_);
  const bool is_session_title = window_title == kUntitledWindow || window_title.starts_with(kTitledWindow);
  if (!is_session_title || found == sessions_.end() || found->second.title.empty()) return false;
  return !fits_window(found->second.title, window_title) && std::ranges::none_of(sessions_, [&](const auto& each) {
    return each.second.child && fits_window(each.second.title, window_title);
  });
}

bool OpenCodeEvents::is_busy() const {
  const auto found = sessions_.find(current_);
  return found != sessions_.end() && !found->second.status.empty();
}

ReportedState OpenCodeEvents::reported_state() const {
  if (!prompts_.empty()) return {State::Blocked, "asks: " + prompts_.front().prompt.summary};
  const auto found = sessions_.find(current_);
  if (found == sessions_.end() || found->second.status.empty()) return {State::Idle, {}};
  return {State::Working, found->second.detail};
}

OpenCodeSelection OpenCodeEvents::selection() const {
  const auto found = sessions_.find(current_);
  return found == sessions_.end() ? OpenCodeSelection{} : found->second.selection;
}

const OpenCodeEvents::OpenPrompt* OpenCodeEvents::find_prompt(const std::string& prompt) const {
  const auto found = std::ranges::find(prompts_, prompt, [](const OpenPrompt& each) { return each.prompt.id; });
  return found == prompts_.end() ? nullptr : &*found;
}

void OpenCodeEvents::set_answered(const std::string& prompt, bool answered) {
  const auto found = std::ranges::find(prompts_, prompt, [](const OpenPrompt& each) { return each.prompt.id; });
  if (found != prompts_.end()) found->answered = answered;
}

void OpenCodeEvents::fall_back_to_screen() {
  for (const auto& each : std::exchange(prompts_, {}))
    listener_.on_prompt_closed(each.prompt.id, {.by = "nobody: its server cannot be reached", .still_on_screen = true});
}

void OpenCodeEvents::close_prompt(const std::string& prompt) {
  const auto before = reported_state();
  set_answered(prompt, false);
  if (const auto* open = find_prompt(prompt)) close(std::string{open->request});
  notify_if_changed(before);
}

void OpenCodeEvents::close(std::string_view request, std::optional<PromptAnswer::Decision> decision) {
  const auto found = std::ranges::find(prompts_, request, &OpenPrompt::request);
  if (found == prompts_.end()) return;
  const auto closed = std::move(*found);
  prompts_.erase(found);
  listener_.on_prompt_closed(closed.prompt.id, {.by = closed.answered ? via::kServer : "user", .decision = decision});
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
  auto& message = messages_[std::string{id}];
  message.session = session;
  return message;
}

void OpenCodeEvents::on_session(const json::object& info, bool created) {
  const auto id = text_of(info, "id");
  if (id.empty()) return;
  auto& session = find_session(id);
  session.child = info.contains("parentID");
  if (auto title = text_of(info, "title"); !title.empty()) session.title = std::move(title);
  const auto& model = object_of(info, "model");
  if (auto agent = text_of(info, "agent"); !agent.empty())
    session.selection = {std::move(agent), text_of(model, "providerID"), text_of(model, "id"),
                         text_of(model, "variant")};
  if (created && !session.child) current_ = id;
}

void OpenCodeEvents::on_message(const json::object& info) {
  if (completed_messages_.has(text_of(info, "id"))) return;
  update_message(info);
  finish(info);
}

void OpenCodeEvents::update_message(const json::object& info) {
  const auto id = text_of(info, "id");
  const auto session = text_of(info, "sessionID");
  if (id.empty() || session.empty() || is_child(session) || reported_inputs_.has(id)) return;
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
  find_session(session).selection = {text_of(info, "agent"), text_of(model, "providerID"), text_of(model, "modelID"),
                                     text_of(model, "variant")};
  if (unknown) current_ = session;
}

void OpenCodeEvents::finish(const json::object& info) {
  const auto id = text_of(info, "id");
  const auto found = messages_.find(id);
  if (found == messages_.end() || found->second.role == "user") return;
  auto& message = found->second;
  const bool failed = info.contains("error");
  if (!failed) report_text(message, info.contains("finish") || object_of(info, "time").contains("completed"));
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
  completed_messages_.add(id);
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
  emit(activity_.take(entry, at != 0 ? at : now()));
}

void OpenCodeEvents::emit(const activity::TimedEvents& all) {
  for (const auto& [event, when] : all) listener_.on_event(event, when);
}

void OpenCodeEvents::on_agent_exit(WallMs at) { emit(activity_.end("the agent has ended", at)); }

/// A call is reported with its input, which is complete once it runs; its start and end once each.
void OpenCodeEvents::on_tool(const json::object& part) {
  const auto use = parse_tool_use(part);
  if (!use || finished_tools_.has(use->tool.id)) return;
  if (started_tools_.add(use->tool.id)) take(use->tool, use->started_at);
  if (!use->result) return emit(activity_.take_output(use->tool.id, use->output, now()));
  finished_tools_.add(use->tool.id);
  if (use->command) take(*use->command, use->ended_at);
  if (use->change) take(*use->change, use->ended_at);
  take(*use->result, use->ended_at);
}

void OpenCodeEvents::end_turn(transcripts::TurnOutcome ending) { take(transcripts::TurnEnded{.outcome = ending}, 0); }

void OpenCodeEvents::on_part(const json::object& part) {
  const auto id = text_of(part, "id");
  const auto message_id = text_of(part, "messageID");
  const auto session = text_of(part, "sessionID");
  const auto type = text_of(part, "type");
  if (id.empty() || message_id.empty() || session.empty() || is_child(session)) return;
  if (completed_messages_.has(message_id) || reported_inputs_.has(message_id)) return;
  auto& message = find_message(message_id, session);
  if (message.role == "assistant") report_model_input(session, message.parent);
  if (!ends_previous_part(type) || (message.parts.size() >= kMaxParts && !message.parts.contains(id))) return;
  auto& stored = message.parts[id];
  stored.type = type;
  const bool ended = message.role == "user" || object_of(part, "time").contains("end");
  if (type == "tool") on_tool(part);
  if (type == "reasoning" && ended && reported_texts_.add(id))
    take(transcripts::Thought{.id = id, .text = text_of(part, "text")}, count_of(object_of(part, "time"), "end"));
  if (type == "text" && ended && !is_true(part, "synthetic") && !is_true(part, "ignored")) {
    const auto* text = part.if_contains("text");
    if (text != nullptr && text->is_string() && text->get_string().size() <= kMaxTextBytes)
      stored = {.type = type, .text = std::string{text->get_string()}, .at = count_of(object_of(part, "time"), "end")};
  }
  if (message.role == "assistant") report_text(message, false);
}

/// A chunk of a text or thought, without a time. Its part was reported before.
void OpenCodeEvents::on_delta(const json::object& delta) {
  const auto message = messages_.find(text_of(delta, "messageID"));
  if (message == messages_.end() || message->second.role != "assistant" || text_of(delta, "field") != "text") return;
  const auto part = message->second.parts.find(text_of(delta, "partID"));
  if (part == message->second.parts.end() || reported_texts_.has(part->first)) return;
  const auto text = text_of(delta, "delta");
  if (part->second.type == "text" || part->second.type == "reasoning")
    emit(activity_.take(activity::TextChunk{.type = part->second.type == "text" ? events::ItemType::Message
                                                                                : events::ItemType::Thinking,
                                            .id = part->first,
                                            .text = text},
                        now()));
}

void OpenCodeEvents::on_status(std::string_view session, const json::object& status) {
  if (session.empty()) return;
  const auto type = text_of(status, "type");
  auto& stored = find_session(session);
  stored.status = type == "idle" ? std::string{} : type;
  stored.detail = text_of(status, "message");
  if (stored.status.empty() && session == current_) end_turn(transcripts::TurnOutcome::Done);
}

void OpenCodeEvents::on_error(const json::object& properties) {
  const auto& error = object_of(properties, "error");
  const auto name = text_of(error, "name");
  if (is_child(text_of(properties, "sessionID"))) return;
  const bool aborted = name == "MessageAbortedError";
  end_turn(aborted ? transcripts::TurnOutcome::Interrupted : transcripts::TurnOutcome::Failed);
  if (aborted) return;
  const auto message = text_of(object_of(error, "data"), "message");
  if (const auto& what = message.empty() ? name : message; !what.empty()) listener_.on_failure(what, via::kServer);
}

void OpenCodeEvents::on_permission(const json::object& request) {
  const auto& input = object_of(request, "metadata");
  const auto tool = text_of(request, "permission");
  auto summary = summary_of(tool, input);
  if (const auto* patterns = array_member(request, "patterns"); input.empty() && patterns != nullptr)
    summary = summary_of(tool, {{"pattern", patterns->empty() ? json::value{""} : patterns->front()}});
  const auto whole = json::serialize(input);
  // Rules would see only one of several files; several commands are all in one line.
  const auto* requested = array_member(request, "patterns");
  const bool many_files = tool != "bash" && requested != nullptr && requested->size() > 1;
  open_prompt({.prompt = {.kind = PromptKind::Permission,
                          .tool = tool,
                          .summary = std::move(summary),
                          .input = std::string{text::truncate_utf8(whole, kMaxInputBytes)},
                          .partial = many_files || whole.size() > kMaxInputBytes,
                          .via = via::kServer},
               .request = text_of(request, "id"),
               .session = text_of(request, "sessionID")});
}

void OpenCodeEvents::on_question(const json::object& request) {
  OpenPrompt open{.prompt = {.kind = PromptKind::Question, .tool = "question", .via = via::kServer},
                  .request = text_of(request, "id"),
                  .session = text_of(request, "sessionID")};
  if (const auto* questions = array_member(request, "questions")) {
    for_each_object(*questions, [&](const json::object& each) {
      if (open.prompt.questions.size() < kMaxQuestions) open.prompt.questions.push_back(parse_question(each));
    });
    open.prompt.input = text::truncate_utf8(json::serialize(*questions), kMaxInputBytes);
  }
  if (!open.prompt.questions.empty())
    open.prompt.summary = summary_of("question", {{"query", open.prompt.questions.front().text}});
  open_prompt(std::move(open));
}

void OpenCodeEvents::open_prompt(OpenPrompt open) {
  if (open.request.empty() || prompts_.size() >= kMaxPrompts) return;
  if (std::ranges::find(prompts_, open.request, &OpenPrompt::request) != prompts_.end()) return;
  open.prompt.id = format("p{}", ++last_prompt_);
  prompts_.push_back(std::move(open));
  const auto prompt = prompts_.back().prompt;
  listener_.on_prompt(prompt);
}

void OpenCodeEvents::report_text(Message& message, bool complete) {
  if (message.role != "assistant") return;
  for (auto part = message.parts.begin(); part != message.parts.end(); ++part) {
    const bool finished = complete || std::next(part) != message.parts.end();
    if (!finished || part->second.text.empty()) continue;
    const auto text = std::exchange(part->second.text, {});
    if (!reported_texts_.add(part->first)) continue;
    listener_.output().on_assistant_text(text, via::kServer);
    take(transcripts::Text{.id = part->first, .text = text}, part->second.at);
  }
}

void OpenCodeEvents::report_model_input(std::string_view session, std::string_view up_to) {
  std::vector<std::pair<std::string, std::string>> texts;  // with the message's id
  for (auto each = messages_.begin(); each != messages_.end() && each->first <= up_to;) {
    if (each->second.role != "user" || each->second.session != session) {
      ++each;
      continue;
    }
    for (auto& [id, part] : each->second.parts)
      if (!part.text.empty()) texts.emplace_back(std::move(part.text), each->first);
    reported_inputs_.add(each->first);
    each = messages_.erase(each);
  }
  for (const auto& [text, message] : texts) listener_.deliveries().on_model_input(text, via::kServer, message);
}

void OpenCodeEvents::notify_if_changed(const ReportedState& before) {
  const auto now = reported_state();
  if (now.state != before.state || now.detail != before.detail) listener_.on_state_reported();
}

}  // namespace relay::adapters
