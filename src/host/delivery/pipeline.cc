#include "host/delivery/pipeline.h"

#include <algorithm>

#include "base/format.h"
#include "base/log.h"
#include "hooks/response.h"
#include "text/sanitize.h"

namespace relay::host {

using profiles::State;
using protocol::DeliveryMode;

DeliveryPipeline::DeliveryPipeline(PipelinePaths places, const profiles::TypingRules& rules, PipelineOutputs outputs)
    : rules_{rules},
      long_texts_{std::move(places.project_root), std::move(places.long_texts)},
      intent_{places.notes, std::move(places.intent_file)},
      inbox_{places.inbox != nullptr ? std::make_unique<InboxFile>(*places.inbox) : nullptr},
      mailroom_{rules, intent_, outputs.composer, outputs.reports},
      sorter_{intent_, mailroom_, outputs.native, outputs.reports},
      on_pause_lapsed_{std::move(outputs.on_pause_lapsed)} {}

Result<void> DeliveryPipeline::open() {
  RELAY_TRY(intent_.load());
  if (!inbox_) return {};
  if (const auto loaded = inbox_->load(); !loaded) {  // a mere copy: the agent runs without it
    log::warn("the file inbox cannot be used", {{"why", loaded.error().message()}});
    inbox_.reset();
  }
  return {};
}

IncomingMessage DeliveryPipeline::receive(const client::IncomingMessage& incoming, WallMs now) {
  auto message = message_of(incoming);
  if (inbox_)
    if (const auto kept = inbox_->add(message, now); !kept)
      log::warn("the file inbox was not written", {{"why", kept.error().message()}});
  const auto most = std::min<std::size_t>(rules_.max_paste_bytes, hooks::kMaxContextBytes);  // by whichever way it goes
  auto text = text_for_agent(message, message.silent ? std::min(most, kMaxQuietTextBytes) : most, long_texts_);
  sorter_.add({.ref = incoming.ref,
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
  if (sorter_.paused()) pause_lapses_ = now + kPauseGrace;
}

void DeliveryPipeline::pause(const protocol::PauseCommand& order) {
  pause_lapses_.reset();
  if (!order.paused) return sorter_.pause(std::nullopt);
  sorter_.pause(order.reason.empty() ? "paused by a person" : format("paused by a person: {}", order.reason));
}

void DeliveryPipeline::move(const client::DeliveryRef& place, DeliveryMode mode) {
  sorter_.move(place, mode, injection_for(mode));
  mailroom_.relocate(place);
}

void DeliveryPipeline::on_model_input(std::string_view text, std::string_view way, std::string_view id) {
  EvidenceMatcher shown{text};
  sorter_.on_given(shown, way, id);
  mailroom_.on_given(shown, way, id);
}

void DeliveryPipeline::explain(std::string_view sentence, bool typed_into, WallMs now) {
  if (!typed_into && inbox_) {
    if (notices_ >= kMaxNotices) return;
    ++notices_;
    const auto added = inbox_->add_notice(text::sanitize_line(sentence), now);
    if (added) return;
    log::warn("the file inbox was not written", {{"why", added.error().message()}});
  }
  if (auto letter = mailroom_.explanation(sentence)) sorter_.add(*std::move(letter));
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

/// What is typed goes by the screen. But a question that is known to be open may not be drawn yet: text that is typed
/// then answers it.
State DeliveryPipeline::at_gate(const View& view) {
  return view.screen == State::Idle || view.state == State::Blocked ? view.state : view.screen;
}

std::optional<SteadyTime> DeliveryPipeline::deliver(const View& view) {
  if (pause_lapses_ && view.now >= *pause_lapses_) {
    pause({.paused = false});
    on_pause_lapsed_();
  }
  auto again = sorter_.deliver(sorting(view));
  if (pause_lapses_) again = again ? std::min(*again, *pause_lapses_) : *pause_lapses_;
  const auto typed = mailroom_.deliver({.now = view.now,
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
                                        .has_record = !view.can.output.empty()},
                                       sorter_);
  if (typed) again = again ? std::min(*again, *typed) : *typed;
  return again;
}

std::string DeliveryPipeline::take_for_hook(DeliveryMode mode, std::size_t max_bytes, const View& view) {
  return sorter_.take(mode, max_bytes, sorting(view));
}

void DeliveryPipeline::fetch(const FetchMessages& wish, text::JsonWriter& answer) {
  const auto offer = page_of(fetchable(), wish.limit, wish.ids);
  const auto shown = wish.take && !offer.ids.empty() ? sorter_.fetch(offer.ids) : offer.ids;
  answer.begin_array("messages");
  for (std::size_t i = 0; i < offer.letters.size(); ++i)
    if (std::ranges::find(shown, offer.ids[i]) != shown.end()) answer.raw_element(offer.letters[i]);
  answer.end().field("more", offer.more || shown.size() < offer.ids.size());
  if (sorter_.paused()) answer.field("paused", true);
}

void DeliveryPipeline::on_agent_exit() {
  mailroom_.on_agent_gone();
  sorter_.on_agent_gone();
}

void DeliveryPipeline::inject_user_text(std::string text, SteadyTime now,
                                        std::move_only_function<void(Result<void>)> done) {
  mailroom_.say_now(std::move(text), now, std::move(done));
}

const Delivery* DeliveryPipeline::first_waiting() const {
  for (const auto* letter : waiting())
    if (letter->mode != DeliveryMode::Manual && !letter->silent) return letter;
  return nullptr;
}

std::string DeliveryPipeline::waiting_reason() const {
  const auto* first = first_waiting();
  if (first == nullptr) return {};
  return first->written && first->reason != first->reported_reason ? "" : first->reason;
}

std::string DeliveryPipeline::settled_reason() const {
  const auto* first = first_waiting();
  return first != nullptr ? first->reported_reason : "";
}

void DeliveryPipeline::describe(text::JsonWriter& out, const adapters::NativeCapabilities& can,
                                std::string_view typed_way) const {
  if (sorter_.paused()) out.field("paused", *sorter_.paused());
  out.begin_array("pending");
  for (const auto* letter : waiting()) {
    out.begin_element()
        .optional("id", letter->message)
        .field("from", letter->from)
        .field("mode", protocol::name_of(letter->mode))
        .optional("via", sorter_.way_of(*letter, can).value_or(typed_way));
    if (letter->as_user) out.field("as", protocol::kAsUser);
    out.field("reason", reason_shown(*letter)).end();
  }
  out.end();
}

/// What stands before the gate first.
std::vector<const Delivery*> DeliveryPipeline::waiting() const {
  std::vector<const Delivery*> all;
  for (const auto& letter : mailroom_.waiting()) {
    for (const auto& quiet : letter.bundled) all.push_back(&quiet);
    all.push_back(&letter);
  }
  std::ranges::copy(sorter_.waiting(), std::back_inserter(all));
  return all;
}

std::vector<const Delivery*> DeliveryPipeline::fetchable() const {
  std::vector<const Delivery*> all;
  for (const auto& letter : mailroom_.waiting())
    if (!letter.injection.begun()) all.push_back(&letter);
  std::ranges::copy(sorter_.fetchable(), std::back_inserter(all));
  return all;
}

}  // namespace relay::host
