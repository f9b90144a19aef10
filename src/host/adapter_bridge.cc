#include "host/adapter_bridge.h"

#include <algorithm>
#include <chrono>

#include "base/log.h"
#include "protocol/limits.h"
#include "protocol/send.h"
#include "text/utf8.h"

namespace relay::host {
namespace {

using protocol::DeliveryMode;

constexpr DeliveryMode kAllModes[] = {DeliveryMode::Immediate, DeliveryMode::NextMessage, DeliveryMode::NextToolCall,
                                      DeliveryMode::OnIdle, DeliveryMode::Manual};

constexpr std::size_t kMaxInputShown = 16 * 1024;
constexpr std::string_view kPolicy = "policy";  // AnswerPrompt::by for a rule

std::string_view or_default(std::string_view via, std::string_view fallback) { return via.empty() ? fallback : via; }

/// The interface that serves a mode; empty when none does.
std::string_view via_for(DeliveryMode mode, const adapters::NativeCapabilities& can,
                         const FallbackInterfaces& fallback) {
  const auto& by = can.by(mode);
  if (mode == DeliveryMode::Manual) return adapters::via::kFetch;
  if (by.timing != adapters::DeliveryTiming::Never) return by.via;
  const bool can_be_typed = can.terminal && (mode == DeliveryMode::OnIdle || mode == DeliveryMode::Immediate);
  return can_be_typed ? fallback.delivery : "";
}

void add(adapters::TokenUsage& total, const adapters::TokenUsage& usage, std::int64_t sign) {
  total.input += sign * usage.input;
  total.output += sign * usage.output;
  total.cache_read += sign * usage.cache_read;
  total.cache_write += sign * usage.cache_write;
  total.reasoning += sign * usage.reasoning;
  if (usage.cost) total.cost = total.cost.value_or(0) + static_cast<double>(sign) * *usage.cost;
}

void write_interfaces(text::JsonWriter& out, const adapters::NativeCapabilities& can,
                      const FallbackInterfaces& fallback) {
  const auto last = can.terminal ? adapters::via::kScreen : std::string_view{};
  if (!can.terminal) out.field("terminal", false);
  out.field("output", or_default(can.output, can.terminal ? fallback.output : last))
      .field("state", or_default(can.state, last))
      .field("prompts", can.prompts)
      .field("usage", can.usage)
      .begin_object("delivery");
  for (const auto mode : kAllModes) out.optional(protocol::name_of(mode), via_for(mode, can, fallback));
  out.end();
}

void write_prompt(text::JsonWriter& out, const adapters::Prompt& prompt, std::string_view request) {
  out.field("id", prompt.id)
      .field("requestId", request)
      .field("kind", name_of(prompt.kind))
      .field("tool", prompt.tool)
      .field("summary", prompt.summary)
      .field("input", text::truncate_utf8(prompt.input, kMaxInputShown))
      .field("via", prompt.via);
  if (prompt.questions.empty()) return;
  out.begin_array("questions");
  for (const auto& question : prompt.questions) {
    out.begin_element().field("text", question.text).field("multiple", question.multiple).begin_array("choices");
    for (const auto& choice : question.choices) out.element(choice);
    out.end().end();
  }
  out.end();
}

/// A prompt that is only on the screen.
void write_screen_prompt(text::JsonWriter& out, const events::Event& event) {
  const auto write = [&](adapters::PromptKind kind, const std::string& request, std::string_view tool,
                         std::string_view summary, bool can_answer) {
    out.field("id", request.substr(request.rfind('-') + 1))
        .field("requestId", request)
        .field("kind", name_of(kind))
        .optional("tool", tool)
        .field("summary", summary)
        .field("via", adapters::via::kScreen)
        .field("canAnswer", can_answer);
  };
  if (const auto* permission = std::get_if<events::PermissionRequested>(&event))
    return write(adapters::PromptKind::Permission, permission->request_id, permission->tool, permission->description,
                 permission->can_answer.value_or(true));
  const auto& question = std::get<events::QuestionRequested>(event);
  write(adapters::PromptKind::Question, question.question_id, {}, question.question,
        question.can_answer.value_or(true));
  if (!question.options) return;
  out.begin_array("options");
  for (const auto& option : *question.options) out.element(option);
  out.end();
}

}  // namespace

void AdapterBridge::start(net::EventLoop& loop, pid_t agent, AdapterBridgeOutputs outputs) {
  loop_ = &loop;
  outputs_.emplace(std::move(outputs));
  if (adapter_) adapter_->start(*this, agent);
}

adapters::NativeCapabilities AdapterBridge::capabilities() const {
  auto can = adapter_ && !ended_ ? adapter_->capabilities() : adapters::NativeCapabilities{};
  can.terminal = terminal_;
  return can;
}

std::optional<adapters::ReportedState> AdapterBridge::reported_state() const {
  if (!prompts_.empty()) {
    const auto& prompt = prompts_.front().prompt;
    return adapters::ReportedState{profiles::State::Blocked, "asks: " + prompt.summary, prompt.via};
  }
  auto reported = adapter_ ? adapter_->reported_state() : std::nullopt;
  if (reported && reported->detail.empty()) reported->detail = profiles::name_of(reported->state);
  return reported;
}

void AdapterBridge::on_hook(const hooks::HookEvent& event, std::uint64_t call, adapters::Adapter::HookReply reply) {
  if (!adapter_ || ended_) return reply({});
  adapter_->on_hook(event, call, std::move(reply));
}

void AdapterBridge::on_hook_closed(std::uint64_t call) {
  if (adapter_) adapter_->on_hook_closed(call);
}

void AdapterBridge::on_state(profiles::State state) {
  if (adapter_) adapter_->on_state(state);
}

void AdapterBridge::on_window_title(std::string_view title, bool start_page) {
  if (adapter_) adapter_->on_window_title(title, start_page);
}

void AdapterBridge::on_agent_exit() {
  if (std::exchange(ended_, true)) return;
  if (adapter_) adapter_->on_agent_exit();
  report(tracker_.on_agent_exit(loop_->now().wall));
}

std::optional<SteadyTime> AdapterBridge::on_screen(profiles::State state, const profiles::ScreenFindings& findings,
                                                   relay::Timestamp now) {
  const auto possible = capabilities();
  const bool prompt_expected = !possible.prompts.empty() || possible.output_expected;
  const auto native_prompt_delay =
      prompt_expected ? PromptTracker::kLateHookTimeout : PromptTracker::kNativePromptDelay;
  report(tracker_.update(state, findings, now, native_prompt_delay));
  return tracker_.due();
}

void AdapterBridge::report(PromptTracker::Events events) {
  for (auto& event : events) outputs_->report_event(std::move(event), loop_->now().wall);
}

AdapterBridge::OpenPrompt* AdapterBridge::find_prompt(std::string_view id) {
  const auto found =
      std::ranges::find(prompts_, id, [](const OpenPrompt& open) { return std::string_view{open.prompt.id}; });
  return found == prompts_.end() ? nullptr : &*found;
}

void AdapterBridge::answer(const AnswerPrompt& request, adapters::Adapter::OnAnswered done) {
  auto id = std::string{tracker_.prompt_of(request.prompt)};
  auto* const open = find_prompt(id);
  if (open == nullptr)
    return done(fail(protocol::NackCode::Stale,
                     "that prompt is not open any more; see `agent-relay permissions` and `agent-relay questions`"));
  auto before = std::exchange(open->answered, AnswerRecord{request.by, request.reply, request.timed_out});
  const bool by_rule = request.by == kPolicy && request.reply.decision == adapters::PromptAnswer::Decision::Approve;
  auto answered = [this, id, by_rule, rule = request.reply.message, before = std::move(before),
                   done = std::move(done)](const Result<void>& outcome) mutable {
    if (outcome) {
      if (by_rule) ++approved_by_rules_, last_rule_ = std::move(rule);
      return done({});
    }
    auto* const still_open = find_prompt(id);
    if (still_open != nullptr) still_open->answered = std::move(before);
    if (protocol::nack_code_of(outcome.error())) return done(Failure{outcome.error()});
    // A prompt that is still open got an answer that does not fit.
    done(fail(still_open != nullptr ? protocol::NackCode::BadRequest : protocol::NackCode::Stale,
              outcome.error().message()));
  };
  adapter_->answer(id, request.reply, std::move(answered));
}

void AdapterBridge::show_dialog(std::string_view request) {
  const auto id = std::string{tracker_.prompt_of(request)};
  if (adapter_ && find_prompt(id) != nullptr) adapter_->show_dialog(id);
}

Result<void> AdapterBridge::check_keys(const AnswerPrompt& request, const profiles::ScreenFindings& findings) {
  PromptTracker::Events events;
  auto allowed = tracker_.check_keys(request.prompt, findings, events);
  report(std::move(events));
  return allowed;
}

void AdapterBridge::describe_prompts(text::JsonWriter& out, WallMs now) const {
  out.begin_array("prompts");
  for (const auto& open : prompts_) {
    if (out.size() > protocol::kMaxResponseBytes) break;  // a response must fit a frame; the oldest prompts come first
    out.begin_element();
    write_prompt(out, open.prompt, tracker_.request_of(open.prompt.id));
    out.field("since", now - std::chrono::duration_cast<Millis>(loop_->now().steady - open.since).count()).end();
  }
  for (const auto& event : tracker_.on_screen_alone()) {
    if (out.size() > protocol::kMaxResponseBytes) break;
    write_screen_prompt(out.begin_element(), event);
    out.end();
  }
  out.end();
}

void AdapterBridge::describe(text::JsonWriter& out) const {
  out.begin_object("interfaces");
  write_interfaces(out, capabilities(), fallback_);
  if (capabilities().by(DeliveryMode::OnIdle).as_peer) out.field("asUser", typed_via());
  out.end();
  if (!failed_.empty()) {
    out.begin_array("failedInterfaces");
    for (const auto& each : failed_) out.begin_element().field("via", each.via).field("reason", each.why).end();
    out.end();
  }
  out.optional("lastFailure", last_failure_);
  if (approved_by_rules_ > 0)
    out.begin_object("approvedByRules").field("count", approved_by_rules_).field("last", last_rule_).end();
  if (usage_.empty()) return;
  out.begin_object("usage")
      .field("source", total_usage_.id)
      .field("input", total_usage_.input)
      .field("output", total_usage_.output)
      .field("cacheRead", total_usage_.cache_read)
      .field("cacheWrite", total_usage_.cache_write)
      .field("reasoning", total_usage_.reasoning)
      .optional("model", total_usage_.model);
  if (total_usage_.cost) out.field("cost", *total_usage_.cost);
  out.end();
}

protocol::DeliveryModes AdapterBridge::modes() const {
  protocol::DeliveryModes modes;
  const auto now = capabilities();
  for (const auto mode : kAllModes)
    if (!via_for(mode, now, fallback_).empty()) modes.add(mode);
  return modes;
}

std::string AdapterBridge::capability_codes() const {
  text::JsonWriter out;
  write_interfaces(out, capabilities(), fallback_);
  // The strongest proof this agent can give. There is no evidence that a program reads its inbox.md.
  out.field("proof", adapter_ ? "seen" : fallback_.delivery == adapters::via::kInboxFile ? "accepted" : "submitted");
  return out.take();
}

void AdapterBridge::on_prompt(const adapters::Prompt& prompt) {
  if (prompts_.size() >= kMaxOpenPrompts)  // agents have one prompt at a time; this is a flood
    on_prompt_closed(std::string{prompts_.front().prompt.id}, {.by = "nobody: too many are open"});
  prompts_.push_back({prompt, loop_->now().steady});
  report(tracker_.on_prompt(prompt));
  text::JsonWriter event;
  event.field("event", "prompt");
  write_prompt(event, prompt, tracker_.request_of(prompt.id));
  outputs_->notify_clients(event.take());
  outputs_->on_changed();
}

void AdapterBridge::on_prompt_closed(const std::string& id, const adapters::PromptOutcome& end) {
  const auto found = std::ranges::find(prompts_, id, [](const OpenPrompt& open) { return open.prompt.id; });
  if (found == prompts_.end()) return;
  const auto answered = std::move(found->answered);
  prompts_.erase(found);
  report(tracker_.on_closed(id, end, answered, loop_->now()));
  text::JsonWriter event;
  event.field("event", "prompt-closed").field("id", id).field("by", end.by);
  outputs_->notify_clients(event.take());
  outputs_->on_changed();
}

void AdapterBridge::on_usage(const adapters::TokenUsage& usage) {
  const auto before = std::ranges::find(usage_, usage.id, &adapters::TokenUsage::id);
  if (before != usage_.end()) {
    add(total_usage_, *before, -1);
    *before = usage;
  } else {
    if (usage_.size() >= kMaxUsageEntries) usage_.pop_front();
    usage_.push_back(usage);
  }
  add(total_usage_, usage, 1);
  if (adapter_) total_usage_.id = adapter_->capabilities().usage;  // even after the agent's exit
  total_usage_.model = usage.model;
}

void AdapterBridge::on_event(const events::Event& event, WallMs at) {
  outputs_->report_event(event, at);
  report(tracker_.on_event(event, loop_->now().wall));
}

void AdapterBridge::on_failure(std::string_view what, std::string_view) { last_failure_ = what; }

void AdapterBridge::on_interface_failed(std::string_view via, std::string why) {
  log::warn("native interface failed", {{"via", std::string{via}}, {"error", why}});
  on_interface_recovered(via);  // the newest reason replaces earlier ones
  if (failed_.size() >= kMaxFailedInterfaces) failed_.pop_front();
  failed_.push_back({std::string{via}, std::move(why)});
  outputs_->on_changed();
}

void AdapterBridge::on_interface_recovered(std::string_view via) {
  std::erase_if(failed_, [&](const FailedInterface& each) { return each.via == via; });
}

}  // namespace relay::host
