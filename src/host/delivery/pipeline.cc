#include "host/delivery/pipeline.h"

#include <algorithm>

#include "base/format.h"
#include "base/log.h"
#include "hooks/response.h"
#include "text/sanitize.h"

namespace relay::host {

using profiles::State;
using protocol::DeliveryMode;

DeliveryPipeline::DeliveryPipeline(PipelinePaths paths, const profiles::TypingRules& rules, PipelineOutputs outputs)
    : rules_{rules},
      long_texts_{std::move(paths.project_root), std::move(paths.long_texts)},
      intent_{paths.notes, std::move(paths.intent_file)},
      inbox_{paths.inbox != nullptr ? std::make_unique<InboxFile>(*paths.inbox) : nullptr},
      injector_{rules, intent_, outputs.composer, outputs.reports},
      scheduler_{intent_, injector_, outputs.native, outputs.reports},
      on_pause_lapsed_{std::move(outputs.on_pause_lapsed)} {}

Result<void> DeliveryPipeline::open() {
  RELAY_TRY(intent_.load());
  if (!inbox_) return {};
  if (const auto loaded = inbox_->load(); !loaded) {  // it holds copies only: the agent runs without it
    log::warn("cannot use the inbox file", {{"error", loaded.error().message()}});
    inbox_.reset();
  }
  return {};
}

IncomingMessage DeliveryPipeline::receive(const client::IncomingMessage& incoming, WallMs now) {
  auto message = message_of(incoming);
  if (inbox_)
    if (const auto kept = inbox_->add(message, now); !kept)
      log::warn("cannot write the inbox file", {{"error", kept.error().message()}});
  const auto most = std::min<std::size_t>(rules_.max_paste_bytes, hooks::kMaxContextBytes);  // for every interface
  auto text = text_for_agent(message, message.silent ? std::min(most, kMaxSilentTextBytes) : most, long_texts_);
  scheduler_.add({.ref = incoming.ref,
                  .from = message.from,
                  .message = message.id,
                  .to = message.to,
                  .text = text,
                  .body = message.body.size() <= rules_.max_paste_bytes ? message.body : text,
                  .thread = message.thread,
                  .kind = message.kind,
                  .topic = message.topic,
                  .reply_to = message.reply_to,
                  .importance = message.importance,
                  .files = message.files,
                  .answer_expected = message.answer_expected,
                  .as_user = message.as_user,
                  .mode = message.mode,
                  .silent = message.silent,
                  .expires_at = message.expires_at,
                  .deadline = message.deadline,
                  .injection = injection_for(message.mode)});
  return message;
}

Injection DeliveryPipeline::injection_for(DeliveryMode mode) const {
  return Injection{rules_, mode == DeliveryMode::Immediate ? Injection::InterruptPolicy::Interrupts
                                                           : Injection::InterruptPolicy::Waits};
}

void DeliveryPipeline::on_connected(SteadyTime now) {
  if (scheduler_.paused()) pause_lapses_ = now + kPauseGrace;
}

void DeliveryPipeline::pause(const protocol::PauseCommand& command) {
  pause_lapses_.reset();
  if (!command.paused) return scheduler_.pause(std::nullopt);
  scheduler_.pause(command.reason.empty() ? "paused by a person" : format("paused by a person: {}", command.reason));
}

void DeliveryPipeline::move(const client::DeliveryRef& ref, DeliveryMode mode) {
  scheduler_.move(ref, mode, injection_for(mode));
  injector_.relocate(ref);
}

void DeliveryPipeline::on_model_input(std::string_view text, std::string_view via, std::string_view id) {
  EvidenceMatcher shown{text};
  scheduler_.on_model_input(shown, via, id);
  injector_.on_model_input(shown, via, id);
}

void DeliveryPipeline::notify_agent(std::string_view sentence, bool typed_into, WallMs now) {
  if (!typed_into && inbox_) {
    if (notices_ >= kMaxNotices) return;
    ++notices_;
    const auto added = inbox_->add_notice(text::sanitize_line(sentence), now);
    if (added) return;
    log::warn("cannot write the inbox file", {{"error", added.error().message()}});
  }
  if (auto delivery = injector_.make_notice(sentence)) scheduler_.add(*std::move(delivery));
}

DeliveryScheduler::View DeliveryPipeline::sorting(const View& view) {
  return {.now = view.now,
          .wall = view.wall,
          .state = view.state,
          .blocker = view.blocker,
          .since = view.since,
          .can = view.can,
          .typed_into = view.typed_into};
}

/// Typing depends on the screen. But a prompt that is known to be open may not be drawn yet, and typed text would
/// answer it.
State DeliveryPipeline::at_gate(const View& view) {
  return view.screen == State::Idle || view.state == State::Blocked ? view.state : view.screen;
}

std::optional<SteadyTime> DeliveryPipeline::deliver(const View& view) {
  if (pause_lapses_ && view.now >= *pause_lapses_) {
    pause({.paused = false});
    on_pause_lapsed_();
  }
  auto again = scheduler_.deliver(sorting(view));
  if (pause_lapses_) again = again ? std::min(*again, *pause_lapses_) : *pause_lapses_;
  const auto typed = injector_.deliver({.now = view.now,
                                        .wall = view.wall,
                                        .state = at_gate(view),
                                        .blocker = view.blocker,
                                        .since = view.since,
                                        .typing = view.typing,
                                        .composer = view.composer,
                                        .revision = view.revision,
                                        .drained = view.drained,
                                        .takes_lines = view.takes_lines,
                                        .keys = view.keys,
                                        .has_transcript = !view.can.output.empty()},
                                       scheduler_);
  if (typed) again = again ? std::min(*again, *typed) : *typed;
  return again;
}

std::string DeliveryPipeline::take_for_hook(DeliveryMode mode, std::size_t max_bytes, const View& view) {
  return scheduler_.take(mode, max_bytes, sorting(view));
}

void DeliveryPipeline::fetch(const FetchMessages& request, text::JsonWriter& answer) {
  const auto page = page_of(fetchable(), request.limit, request.ids);
  const auto shown = request.take && !page.ids.empty() ? scheduler_.fetch(page.ids) : page.ids;
  answer.begin_array("messages");
  for (std::size_t i = 0; i < page.messages.size(); ++i)
    if (std::ranges::find(shown, page.ids[i]) != shown.end()) answer.raw_element(page.messages[i]);
  answer.end().field("more", page.more || shown.size() < page.ids.size());
  if (scheduler_.paused()) answer.field("paused", true);
}

void DeliveryPipeline::on_agent_exit() {
  injector_.on_agent_exit();
  scheduler_.on_agent_exit();
}

void DeliveryPipeline::inject_user_text(std::string text, SteadyTime now,
                                        std::move_only_function<void(Result<void>)> done) {
  injector_.inject_user_text(std::move(text), now, std::move(done));
}

const Delivery* DeliveryPipeline::first_pending() const {
  for (const auto* delivery : pending())
    if (delivery->mode != DeliveryMode::Manual && !delivery->silent) return delivery;
  return nullptr;
}

std::string DeliveryPipeline::pending_reason() const {
  const auto* first = first_pending();
  if (first == nullptr) return {};
  return first->written && first->reason != first->reported_reason ? "" : first->reason;
}

std::string DeliveryPipeline::settled_reason() const {
  const auto* first = first_pending();
  return first != nullptr ? first->reported_reason : "";
}

void DeliveryPipeline::describe(text::JsonWriter& out, const adapters::NativeCapabilities& can,
                                std::string_view typed_via) const {
  if (scheduler_.paused()) out.field("paused", *scheduler_.paused());
  out.begin_array("pending");
  for (const auto* delivery : pending()) {
    out.begin_element()
        .optional("id", delivery->message)
        .field("from", delivery->from)
        .field("mode", protocol::name_of(delivery->mode))
        .optional("via", scheduler_.via_of(*delivery, can).value_or(typed_via));
    if (delivery->as_user) out.field("as", protocol::kAsUser);
    out.field("reason", reason_shown(*delivery)).end();
  }
  out.end();
}

/// Those at the gate first.
std::vector<const Delivery*> DeliveryPipeline::pending() const {
  std::vector<const Delivery*> all;
  for (const auto& delivery : injector_.pending()) {
    for (const auto& each : delivery.bundled) all.push_back(&each);
    all.push_back(&delivery);
  }
  std::ranges::copy(scheduler_.pending(), std::back_inserter(all));
  return all;
}

std::vector<const Delivery*> DeliveryPipeline::fetchable() const {
  std::vector<const Delivery*> all;
  for (const auto& delivery : injector_.pending())
    if (!delivery.injection.begun()) all.push_back(&delivery);
  std::ranges::copy(scheduler_.fetchable(), std::back_inserter(all));
  return all;
}

}  // namespace relay::host
