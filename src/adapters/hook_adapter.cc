#include "adapters/hook_adapter.h"

#include "base/format.h"
#include "base/log.h"
#include "hooks/wiring.h"

namespace relay::adapters {
namespace {

using hooks::HookEventKind;
using protocol::DeliveryMode;

constexpr std::size_t kMaxUnknownTold = 32;

TokenUsage counted(const transcripts::TokenUsage& usage) {
  return {.id = usage.id,
          .model = usage.model,
          .input = usage.input.value_or(0),
          .output = usage.output.value_or(0),
          .cache_read = usage.cache_read.value_or(0),
          .cache_write = usage.cache_write.value_or(0),
          .reasoning = usage.reasoning.value_or(0)};
}

}  // namespace

void HookAdapter::prepare(pty::Command& command, const LaunchContext& where) {
  where_ = where;
  const auto wired = hooks::wire(agent_, command.argv, command.environment,
                                 {.program = where.program,
                                  .private_file = where.private_file,
                                  .directory = command.directory,
                                  .root_owned = hooks::is_root_owned(where.private_file)});
  wired_ = wired && wired->hooks;
  if (!wired_) why_unwired_ = wired ? wired->blocked_reason : wired.error().message();
}

void HookAdapter::start(Listener& listener, pid_t) {
  listener_ = &listener;
  transcript_.reset(new TranscriptFollower{loop_, make_reader_, *this});
  prompts_.start(loop_, listener);
  prompts_.set_timeout(prompt_timeout());
  if (!wired_) fail_interface(way::kHook, why_unwired_);
}

NativeCapabilities HookAdapter::capabilities() const {
  NativeCapabilities can;
  if (follows()) can.output = can.usage = way::kTranscript;
  can.hears_soon = wired_ && !silent_ && !(transcript_ && !transcript_->path().empty());
  if (!wired_ || silent_) return can;
  can.prompts = way::kHook;
  can.by(DeliveryMode::NextMessage) = {DeliveryTiming::Asked, way::kHook};
  can.by(DeliveryMode::NextToolCall) = {DeliveryTiming::Asked, way::kHook};
  return can;
}

void HookAdapter::deliver(const NativeDelivery&, OnAccepted done) { done(fail("it has no door for that")); }

void HookAdapter::answer(const std::string& prompt, const PromptAnswer& reply, OnAnswered done) {
  done(prompts_.answer(prompt, reply));
}

/// An agent that was started inside ours has inherited our door. Ours goes over to another session only by a person's word
/// (`/clear`, `/resume`), never by starting up again.
bool HookAdapter::is_foreign(const hooks::HookEvent& event) const {
  if (event.agent != agent_) return true;
  if ((!follows() && !lost_) || event.session == session_) return false;
  return event.kind != HookEventKind::SessionStart || (event.reason == "startup" && !starts_anew());
}

void HookAdapter::on_hook(const hooks::HookEvent& event, std::uint64_t call, HookReply reply) {
  if (is_foreign(event)) return reply({});
  called_ = true;
  if (std::exchange(silent_, false)) {
    listener_->on_interface_recovered(way::kHook);
    listener_->on_capabilities();
  }
  if (event.kind == HookEventKind::Permission) return prompts_.open(event, call, std::move(reply));
  if (!event.subagent.empty()) return reply({});
  if (!event.transcript.empty()) follow(event.transcript, event.session);
  switch (event.kind) {
    case HookEventKind::SessionStart: return reply({.context = session_context()});
    case HookEventKind::Prompt:
      listener_->on_model_input(event.prompt, way::kHook, event.name);
      return reply({.context = listener_->take_pending(DeliveryMode::NextMessage, hooks::kMaxContextBytes)});
    case HookEventKind::AfterTool:
      return reply({.context = listener_->take_pending(DeliveryMode::NextToolCall, hooks::kMaxContextBytes)});
    case HookEventKind::Display: take_display(event); break;
    case HookEventKind::TurnFailed:
      listener_->on_failure(event.text.empty() ? event.reason : event.text, way::kHook);
      break;
    default: break;
  }
  reply({});
}

/// A piece of what the model says. The transcript has the whole of it a moment later.
void HookAdapter::take_display(const hooks::HookEvent& event) {
  const auto message = string_member(event.extra, "message_id").value_or("");
  if (message.empty() || event.text_cut) return;
  for (const auto& text : display_.take(message, integer_member(event.extra, "index").value_or(0), event.text))
    transcript_->take({.id = message, .text = text});
}

void HookAdapter::on_hook_gone(std::uint64_t call) { prompts_.on_hook_gone(call); }

void HookAdapter::on_state(profiles::State state) {
  prompts_.on_state(state);
  if (lost_ && (state == profiles::State::Idle || state == profiles::State::Typing))
    screen_heard_until_ = loop_.now().wall;
  const auto before = std::exchange(last_state_, state);
  if (state == profiles::State::Working) in_turn_ = in_turn_ || before == profiles::State::Idle;
  if (state != profiles::State::Idle || !std::exchange(in_turn_, false) || called_ || !wired_ || silent_) return;
  if (++turns_ < turns_before_hooks()) return;
  silent_ = true;
  fail_interface(way::kHook, "the agent does not call its hooks; they may be turned off in its settings");
}

void HookAdapter::follow(const std::string& record, const std::string& session, std::optional<WallMs> since) {
  if (record == transcript_->path()) return;
  session_ = session;
  screen_heard_until_ = 0;
  find_record_again();
  transcript_->follow(record, since);
  listener_->on_capabilities();
}

void HookAdapter::move(const std::string& record, const std::string& session, WallMs not_before) {
  session_ = session;
  screen_heard_until_ = 0;
  find_record_again();
  transcript_->move(record, not_before);
  listener_->on_capabilities();
}

void HookAdapter::lose_record(std::string why) {
  if (std::exchange(lost_, true)) return;
  fail_interface(way::kTranscript, std::move(why));
  listener_->on_capabilities();
}

void HookAdapter::find_record_again() {
  if (!std::exchange(lost_, false)) return;
  listener_->on_interface_recovered(way::kTranscript);
  listener_->on_capabilities();
}

void HookAdapter::on_transcript_gone() {
  if (ended_) return;  // Gemini removes a record without a conversation
  lose_record(format("its record {} was removed", transcript_->path()));
  on_record_removed();
}

void HookAdapter::on_agent_exit() {
  ended_ = true;
  if (transcript_) transcript_->end();
}

/// From here on its screen is heard again.
void HookAdapter::on_transcript_problem(const std::string& sentence) { fail_interface(way::kTranscript, sentence); }

bool HookAdapter::was_heard_on_screen() const {
  const auto written = transcript_->written_at();
  return written != 0 && written <= screen_heard_until_;
}

void HookAdapter::on_entry(const transcripts::Entry& entry) {
  find_record_again();
  on_own_entry(entry);
  if (const auto* text = std::get_if<transcripts::Text>(&entry)) {
    if (!was_heard_on_screen()) listener_->on_assistant_text(transcripts::complete_lines(*text), way::kTranscript);
  } else if (const auto* prompt = std::get_if<transcripts::ModelInput>(&entry))
    listener_->on_model_input(prompt->text, way::kTranscript, prompt->id);
  else if (const auto* usage = std::get_if<transcripts::TokenUsage>(&entry))
    listener_->on_usage(counted(*usage));
  else if (const auto* failure = std::get_if<transcripts::TurnFailure>(&entry))
    listener_->on_failure(failure->text.empty() ? failure->code : failure->text, way::kTranscript);
  else if (const auto* unknown = std::get_if<transcripts::Unknown>(&entry))
    if (unknown_.size() < kMaxUnknownTold && unknown_.insert(unknown->type).second)
      log::info("a line of its record was not understood", {{"type", unknown->type}, {"why", unknown->problem}});
}

}  // namespace relay::adapters
