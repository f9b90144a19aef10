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
      intent_{paths.state_directory, std::move(paths.intent_file)},
      inbox_{paths.inbox != nullptr ? std::make_unique<InboxFile>(*paths.inbox) : nullptr},
      injector_{rules, intent_, outputs.composer, outputs.reports},
      scheduler_{intent_, injector_, outputs.native, outputs.reports},
      request_update_{std::move(outputs.request_update)},
      view_{std::move(outputs.view)},
      on_pause_lapsed_{std::move(outputs.on_pause_lapsed)} {}

Result<void> DeliveryPipeline::open() {
  RELAY_TRY(intent_.load());
  if (!inbox_) return {};
  if (const auto loaded = inbox_->load(); !loaded) {  // it only holds copies, so the host continues without it
    log::warn("cannot use the inbox file", {{"error", loaded.error().message()}});
    inbox_.reset();
  }
  return {};
}

IncomingMessage DeliveryPipeline::receive(const client::IncomingMessage& incoming, WallMs now) {
  auto message = parse_incoming(incoming);
  if (inbox_)
    if (const auto added = inbox_->add(message, now); !added)
      log::warn("cannot write the inbox file", {{"error", added.error().message()}});
  const auto max_bytes = std::min<std::size_t>(rules_.max_paste_bytes, hooks::kMaxContextBytes);  // for every interface
  auto text =
      text_for_agent(message, message.silent ? std::min(max_bytes, kMaxSilentTextBytes) : max_bytes, long_texts_);
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
  return Injection{rules_, mode == DeliveryMode::Immediate ? Injection::InterruptPolicy::Interrupt
                                                           : Injection::InterruptPolicy::WaitForIdle};
}

void DeliveryPipeline::on_connected(SteadyTime now) {
  if (scheduler_.paused()) pause_lapses_ = now + kPauseGrace;
}

void DeliveryPipeline::pause(const protocol::PauseCommand& command) {
  pause_lapses_.reset();
  if (!command.paused) return scheduler_.pause(std::nullopt);
  scheduler_.pause(protocol::describe_pause(command.reason));
}

void DeliveryPipeline::move(const client::DeliveryRef& ref, DeliveryMode mode) {
  scheduler_.move(ref, mode, injection_for(mode));
  injector_.relocate(ref);
}

void DeliveryPipeline::on_model_input(std::string_view text, std::string_view via, std::string_view id) {
  EvidenceMatcher input{text};
  scheduler_.on_model_input(input, via, id);
  injector_.on_model_input(input, via, id);
  request_update_();
}

void DeliveryPipeline::on_returned(const std::vector<std::string>& ids, std::string_view reason) {
  scheduler_.on_returned(ids, reason);
  request_update_();
}

void DeliveryPipeline::notify_agent(std::string_view notice, bool typed_into, WallMs now) {
  if (!typed_into && inbox_) {
    if (notices_ >= kMaxNotices) return;
    ++notices_;
    const auto added = inbox_->add_notice(text::sanitize_line(notice), now);
    if (added) return;
    log::warn("cannot write the inbox file", {{"error", added.error().message()}});
  }
  if (auto delivery = injector_.make_notice(notice)) scheduler_.add(*std::move(delivery));
}

DeliveryScheduler::View DeliveryPipeline::scheduler_view(const View& view) {
  return {.now = view.now,
          .wall = view.wall,
          .state = view.state,
          .blocker = view.blocker,
          .since = view.since,
          .can = view.can,
          .typed_into = view.typed_into};
}

/// Typing depends on the screen, but a reported prompt may not be drawn yet, and typed text would answer it.
State DeliveryPipeline::gate_state(const View& view) {
  return view.screen == State::Idle || view.state == State::Blocked ? view.state : view.screen;
}

std::optional<SteadyTime> DeliveryPipeline::deliver(const View& view) {
  if (pause_lapses_ && view.now >= *pause_lapses_) {
    pause({.paused = false});
    on_pause_lapsed_();
  }
  auto again = scheduler_.deliver(scheduler_view(view));
  if (pause_lapses_) again = again ? std::min(*again, *pause_lapses_) : *pause_lapses_;
  const auto typed = injector_.deliver({.now = view.now,
                                        .wall = view.wall,
                                        .state = gate_state(view),
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

std::string DeliveryPipeline::take_pending(DeliveryMode mode, std::size_t max_bytes) {
  return scheduler_.take(mode, max_bytes, scheduler_view(view_()));
}

void DeliveryPipeline::fetch(const FetchMessages& request, text::JsonWriter& response) {
  const auto page = fetch_page(fetchable(), request.limit, request.ids);
  const auto fetched = request.take && !page.ids.empty() ? scheduler_.fetch(page.ids) : page.ids;
  response.begin_array("messages");
  for (std::size_t i = 0; i < page.messages.size(); ++i)
    if (std::ranges::find(fetched, page.ids[i]) != fetched.end()) response.raw_element(page.messages[i]);
  response.end().field("more", page.more || fetched.size() < page.ids.size());
  if (scheduler_.paused()) response.field("paused", true);
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

std::string DeliveryPipeline::lasting_reason() const {
  const auto* first = first_pending();
  return first != nullptr ? first->reported_reason : "";
}

void DeliveryPipeline::describe(text::JsonWriter& out, const adapters::NativeCapabilities& can,
                                std::string_view typed_via) const {
  if (scheduler_.paused()) out.field("paused", *scheduler_.paused());
  out.begin_array("pending");
  for (const auto* delivery : pending()) {
    const auto route = scheduler_.route_of(*delivery, can);
    out.begin_element()
        .optional("id", delivery->message)
        .field("from", delivery->from)
        .field("mode", protocol::name_of(delivery->mode))
        .optional("via", route.kind == DeliveryRoute::Kind::Typed ? typed_via : route.via);
    if (delivery->as_user) out.field("as", protocol::kAsUser);
    out.field("reason", displayed_reason(*delivery)).end();
  }
  out.end();
}

/// Those at the injector come first.
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
    if (!delivery.injection.has_started()) all.push_back(&delivery);
  std::ranges::copy(scheduler_.fetchable(), std::back_inserter(all));
  return all;
}

}  // namespace relay::host
