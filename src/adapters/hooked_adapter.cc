#include "adapters/hooked_adapter.h"

#include "base/format.h"
#include "base/log.h"
#include "hooks/wiring.h"

namespace relay::adapters {
namespace {

using hooks::EventKind;
using protocol::DeliveryMode;

constexpr std::size_t kMaxUnknownTold = 32;
constexpr Millis kClockSlack{2'000};  // a line is stamped before it is written

Usage counted(const transcripts::Usage& usage) {
  return {.id = usage.id,
          .model = usage.model,
          .input = usage.input.value_or(0),
          .output = usage.output.value_or(0),
          .cache_read = usage.cache_read.value_or(0),
          .cache_write = usage.cache_write.value_or(0),
          .reasoning = usage.reasoning.value_or(0)};
}

}  // namespace

void HookedAdapter::prepare(pty::Command& command, const Surroundings& where) {
  where_ = where;
  const auto wired = hooks::wire(agent_, command.argv, command.environment,
                                 {.program = where.program,
                                  .private_file = where.private_file,
                                  .directory = command.directory,
                                  .roots_alone = hooks::is_roots_alone(where.private_file)});
  wired_ = wired && wired->hooks;
  if (!wired_) why_unwired_ = wired ? wired->why_not : wired.error().message();
}

void HookedAdapter::start(net::AsioLoop& loop, Listener& listener, pid_t) {
  loop_ = &loop;
  listener_ = &listener;
  prompts_.start(loop, listener);
  prompts_.set_patience(prompt_patience());
  if (!wired_) break_way(way::kHook, why_unwired_);
}

Capabilities HookedAdapter::capabilities() const {
  Capabilities can;
  if (tail_) can.hear = can.count = way::kTranscript;
  can.hears_soon = wired_ && !silent_ && record_.empty();
  if (!wired_ || silent_) return can;
  can.answer = way::kHook;
  can.by(DeliveryMode::NextMessage) = {Moment::Asked, way::kHook};
  can.by(DeliveryMode::NextToolCall) = {Moment::Asked, way::kHook};
  return can;
}

void HookedAdapter::speak(const Words&, OnHanded done) { done(fail("it has no door for that")); }

void HookedAdapter::answer(const std::string& prompt, const Reply& reply, OnAnswered done) {
  done(prompts_.answer(prompt, reply));
}

/// An agent that was started inside ours has inherited our door. Ours goes over to another session only by a person's word
/// (`/clear`, `/resume`), never by starting up again.
bool HookedAdapter::is_a_strangers(const hooks::Event& event) const {
  if (event.agent != agent_) return true;
  if (!tail_ || event.session == session_) return false;
  return event.kind != EventKind::SessionStart || (event.reason == "startup" && !starts_anew());
}

void HookedAdapter::on_hook(const hooks::Event& event, std::uint64_t call, HookReply reply) {
  if (is_a_strangers(event)) return reply({});
  called_ = true;
  if (std::exchange(silent_, false)) {
    listener_->on_mended(way::kHook);
    listener_->on_capabilities();
  }
  if (event.kind == EventKind::Permission) return prompts_.open(event, call, std::move(reply));
  if (!event.subagent.empty()) return reply({});
  if (!event.transcript.empty()) follow(event.transcript, event.session);
  switch (event.kind) {
    case EventKind::SessionStart: return reply({.context = greeting()});
    case EventKind::Prompt:
      listener_->on_given(event.prompt, way::kHook, event.name);
      return reply({.context = listener_->take(DeliveryMode::NextMessage, hooks::kMaxContextBytes)});
    case EventKind::AfterTool:
      return reply({.context = listener_->take(DeliveryMode::NextToolCall, hooks::kMaxContextBytes)});
    case EventKind::TurnFailed:
      listener_->on_failure(event.text.empty() ? event.reason : event.text, way::kHook);
      break;
    default: break;
  }
  reply({});
}

void HookedAdapter::on_hook_gone(std::uint64_t call) { prompts_.on_hook_gone(call); }

void HookedAdapter::on_state(profiles::State state) {
  prompts_.on_state(state);
  const auto before = std::exchange(last_state_, state);
  if (state == profiles::State::Working) in_turn_ = in_turn_ || before == profiles::State::Idle;
  if (state != profiles::State::Idle || !std::exchange(in_turn_, false) || called_ || !wired_ || silent_) return;
  if (++turns_ < turns_before_hooks()) return;
  silent_ = true;
  break_way(way::kHook, "the agent does not call its hooks; they may be turned off in its settings");
}

void HookedAdapter::follow(const std::string& record, const std::string& session) {
  if (record == record_) return;
  record_ = record;
  session_ = session;
  reader_ = make_reader_();
  tell(activity_.end("the agent went on in another session", loop_->now().wall));
  followed_from_ = loop_->now().wall - kClockSlack.count();
  auto tail = transcripts::Tail::follow(*loop_, record_, transcripts::Tail::From::Beginning, *this);
  if (tail)
    tail_ = *std::move(tail);
  else
    tail_.reset(), break_way(way::kTranscript, tail.error().message());
  listener_->on_capabilities();
}

void HookedAdapter::on_line(const transcripts::Line& line) {
  const auto entries = reader_->read(line.text);
  const auto written = reader_->written_at();
  const bool earlier = line.earlier || (written != 0 && written < followed_from_);
  if (earlier) return;
  for (const auto& entry : entries) {
    take(entry);
    tell(activity_.take(entry, written != 0 ? written : loop_->now().wall));
  }
}

void HookedAdapter::tell(const activity::Happenings& all) {
  for (const auto& [event, at] : all) listener_->on_event(event, at);
}

void HookedAdapter::on_ended() {
  if (loop_ != nullptr) tell(activity_.end("the agent has ended", loop_->now().wall));
}

void HookedAdapter::on_restart() { reader_->restart(); }

/// From here on its screen is heard again.
void HookedAdapter::on_problem(const std::string& sentence) {
  tail_.reset();
  break_way(way::kTranscript, sentence);
}

/// One line is missing, not the record: what follows is heard as before.
void HookedAdapter::on_left_out(const std::string& sentence) { log::info(sentence, {{"record", record_}}); }

void HookedAdapter::take(const transcripts::Entry& entry) {
  if (const auto* text = std::get_if<transcripts::Text>(&entry))
    listener_->on_heard(transcripts::finished_part(*text), way::kTranscript);
  else if (const auto* prompt = std::get_if<transcripts::Prompt>(&entry))
    listener_->on_given(prompt->text, way::kTranscript, prompt->id);
  else if (const auto* usage = std::get_if<transcripts::Usage>(&entry))
    listener_->on_usage(counted(*usage));
  else if (const auto* failure = std::get_if<transcripts::Failure>(&entry))
    listener_->on_failure(failure->text.empty() ? failure->code : failure->text, way::kTranscript);
  else if (const auto* unknown = std::get_if<transcripts::Unknown>(&entry))
    if (unknown_.size() < kMaxUnknownTold && unknown_.insert(unknown->type).second)
      log::info("a line of its record was not understood", {{"type", unknown->type}, {"why", unknown->problem}});
}

}  // namespace relay::adapters
