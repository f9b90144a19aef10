#include "adapters/hook_adapter.h"

#include "base/format.h"
#include "base/log.h"
#include "hooks/wiring.h"

namespace relay::adapters {
namespace {

using hooks::HookEventKind;
using protocol::DeliveryMode;

constexpr std::size_t kMaxUnknownReported = 32;

TokenUsage to_token_usage(const transcripts::TokenUsage& usage) {
  return {.id = usage.id,
          .model = usage.model,
          .input = usage.input.value_or(0),
          .output = usage.output.value_or(0),
          .cache_read = usage.cache_read.value_or(0),
          .cache_write = usage.cache_write.value_or(0),
          .reasoning = usage.reasoning.value_or(0)};
}

}  // namespace

void HookAdapter::prepare(pty::Command& command, const LaunchContext& context) {
  context_ = context;
  const auto wired = hooks::wire(agent_, command.argv, command.environment,
                                 {.program = context.program,
                                  .private_file = context.private_file,
                                  .directory = command.directory,
                                  .root_owned = hooks::is_root_owned(context.private_file)});
  wired_ = wired && wired->hooks;
  if (!wired_) unwired_reason_ = wired ? wired->blocked_reason : wired.error().message();
}

void HookAdapter::start(Listener& listener, pid_t) {
  listener_ = &listener;
  transcript_.reset(new TranscriptFollower{loop_, make_reader_, *this});
  prompts_.start(loop_, listener);
  prompts_.set_timeout(prompt_timeout());
  if (!wired_) fail_interface(via::kHook, unwired_reason_);
}

NativeCapabilities HookAdapter::capabilities() const {
  NativeCapabilities can;
  if (follows()) can.output = can.usage = via::kTranscript;
  can.output_expected = wired_ && !hooks_failed_ && !(transcript_ && !transcript_->path().empty());
  if (!wired_ || hooks_failed_) return can;
  can.prompts = via::kHook;
  can.by(DeliveryMode::NextMessage) = {DeliveryTiming::OnHook, via::kHook};
  can.by(DeliveryMode::NextToolCall) = {DeliveryTiming::OnHook, via::kHook};
  return can;
}

void HookAdapter::deliver(const NativeDelivery&, OnAccepted done) {
  done(fail("it has no native interface for deliveries"));
}

void HookAdapter::answer(const std::string& prompt, const PromptAnswer& answer, OnAnswered done) {
  done(prompts_.answer(prompt, answer));
}

/// An agent that was started inside this one has inherited its host socket. This agent changes its session only by a
/// command of its user (`/clear`, `/resume`), never by another startup.
bool HookAdapter::is_foreign(const hooks::HookEvent& event) const {
  if (event.agent != agent_) return true;
  if ((!follows() && !lost_) || event.session == session_) return false;
  return event.kind != HookEventKind::SessionStart || (event.reason == "startup" && !reports_new_session_as_startup());
}

void HookAdapter::on_hook(const hooks::HookEvent& event, std::uint64_t call, HookReply reply) {
  if (is_foreign(event)) return reply({});
  hook_called_ = true;
  if (std::exchange(hooks_failed_, false)) {
    listener_->on_interface_recovered(via::kHook);
    listener_->on_capabilities();
  }
  if (event.kind == HookEventKind::Permission) return prompts_.open(event, call, std::move(reply));
  if (!event.subagent.empty()) return reply({});
  if (!event.transcript.empty()) follow(event.transcript, event.session);
  switch (event.kind) {
    case HookEventKind::SessionStart: return reply({.context = session_context()});
    case HookEventKind::Prompt:
      listener_->deliveries().on_model_input(event.prompt, via::kHook, event.name);
      return reply(
          {.context = listener_->deliveries().take_pending(DeliveryMode::NextMessage, hooks::kMaxContextBytes)});
    case HookEventKind::AfterTool:
      return reply(
          {.context = listener_->deliveries().take_pending(DeliveryMode::NextToolCall, hooks::kMaxContextBytes)});
    case HookEventKind::Display: take_display(event); break;
    case HookEventKind::TurnFailed:
      listener_->on_failure(event.text.empty() ? event.reason : event.text, via::kHook);
      break;
    default: break;
  }
  reply({});
}

/// A chunk of the model's text. The transcript has the whole text a moment later.
void HookAdapter::take_display(const hooks::HookEvent& event) {
  const auto message = string_member(event.extra, "message_id").value_or("");
  if (message.empty() || event.text_cut) return;
  for (const auto& text : display_.take(message, integer_member(event.extra, "index").value_or(0), event.text))
    transcript_->take({.id = message, .text = text});
}

void HookAdapter::on_hook_closed(std::uint64_t call) { prompts_.on_hook_closed(call); }

void HookAdapter::on_state(profiles::State state) {
  prompts_.on_state(state);
  if (lost_ && (state == profiles::State::Idle || state == profiles::State::Typing))
    screen_read_until_ = loop_.now().wall;
  const auto before = std::exchange(last_state_, state);
  if (state == profiles::State::Working) in_turn_ = in_turn_ || before == profiles::State::Idle;
  if (state != profiles::State::Idle || !std::exchange(in_turn_, false) || hook_called_ || !wired_ || hooks_failed_)
    return;
  if (++turns_ < turns_before_hooks()) return;
  hooks_failed_ = true;
  fail_interface(via::kHook, "the agent does not call its hooks; they may be turned off in its settings");
}

void HookAdapter::follow(const std::string& transcript, const std::string& session, std::optional<WallMs> since) {
  if (transcript == transcript_->path()) return;
  session_ = session;
  screen_read_until_ = 0;
  recover_transcript();
  transcript_->follow(transcript, since);
  listener_->on_capabilities();
}

void HookAdapter::move(const std::string& transcript, const std::string& session, WallMs not_before) {
  session_ = session;
  screen_read_until_ = 0;
  recover_transcript();
  transcript_->move(transcript, not_before);
  listener_->on_capabilities();
}

void HookAdapter::lose_transcript(std::string reason) {
  if (std::exchange(lost_, true)) return;
  fail_interface(via::kTranscript, std::move(reason));
  listener_->on_capabilities();
}

void HookAdapter::recover_transcript() {
  if (!std::exchange(lost_, false)) return;
  listener_->on_interface_recovered(via::kTranscript);
  listener_->on_capabilities();
}

void HookAdapter::on_transcript_removed() {
  if (ended_) return;  // Gemini removes a transcript without a conversation
  lose_transcript(format("its transcript {} was removed", transcript_->path()));
  on_transcript_lost();
}

void HookAdapter::on_agent_exit() {
  ended_ = true;
  if (transcript_) transcript_->end();
}

/// From now on the screen is read.
void HookAdapter::on_transcript_error(const std::string& error) { fail_interface(via::kTranscript, error); }

bool HookAdapter::was_read_from_screen() const {
  const auto written = transcript_->written_at();
  return written != 0 && written <= screen_read_until_;
}

void HookAdapter::on_entry(const transcripts::Entry& entry) {
  recover_transcript();
  on_own_entry(entry);
  if (const auto* text = std::get_if<transcripts::Text>(&entry)) {
    if (!was_read_from_screen())
      listener_->output().on_assistant_text(transcripts::complete_lines(*text), via::kTranscript);
  } else if (const auto* prompt = std::get_if<transcripts::ModelInput>(&entry))
    listener_->deliveries().on_model_input(prompt->text, via::kTranscript, prompt->id);
  else if (const auto* usage = std::get_if<transcripts::TokenUsage>(&entry))
    listener_->on_usage(to_token_usage(*usage));
  else if (const auto* failure = std::get_if<transcripts::TurnFailure>(&entry))
    listener_->on_failure(failure->text.empty() ? failure->code : failure->text, via::kTranscript);
  else if (const auto* unknown = std::get_if<transcripts::Unknown>(&entry))
    if (unknown_.size() < kMaxUnknownReported && unknown_.insert(unknown->type).second)
      log::info("unknown transcript entry", {{"type", unknown->type}, {"error", unknown->problem}});
}

}  // namespace relay::adapters
