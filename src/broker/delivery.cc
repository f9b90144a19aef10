// DELIVER: a window of each agent's mail in flight, repeated until acknowledged, let go when its time is over.
#include <algorithm>

#include "base/format.h"
#include "broker/core.h"
#include "protocol/send.h"
#include "records/short_id.h"
#include "text/json_writer.h"

namespace relay::broker {

using protocol::MessageType;
using records::DeliveryState;
using records::FrameKind;
using records::Proof;

namespace {

constexpr Millis kReloadRetryDelay{1'000};
constexpr std::size_t kSmallestPage = 8;  // of one flow, however much is ready of others

/// Wall time may jump, steady time may not: an expiry further off than this is looked at again in between.
constexpr Millis kMaxExpiryWait{3'600'000};

/// What published clients expect to find in `data`, as JSON members without braces.
std::string spliced_members(const records::Delivery& delivery, const records::Message& message) {
  std::string members;
  if (delivery.queued_offline) members = format(R"("_offlineQueued":true,"_queuedAt":{})", message.ts);
  if (delivery.frame_kind == FrameKind::ShadowIncoming || delivery.frame_kind == FrameKind::ShadowOutgoing) {
    if (!members.empty()) members += ',';
    members += R"("_shadowCopy":true,"_shadowOf":)";
    text::append_json_string(members, delivery.shadow_of);
    members += format(R"(,"_shadowDirection":"{}")",
                      delivery.frame_kind == FrameKind::ShadowIncoming ? "incoming" : "outgoing");
  }
  return members;
}

protocol::DeliveryMode wished_mode(const records::Message& message) {
  if (message.payload_meta.find("\"delivery\"") == std::string::npos) return protocol::DeliveryMode::OnIdle;
  const auto meta = protocol::parse_send_meta(message.payload_meta);
  return meta && meta->delivery ? meta->delivery->mode : protocol::DeliveryMode::OnIdle;
}

}  // namespace

std::shared_ptr<const records::Message> Core::heading_of(Key key, const AgentName& from, const AgentName& to) {
  records::Message message;
  message.key = key;
  message.from = from;
  message.to = to.value();
  return std::make_shared<const records::Message>(std::move(message));
}

SettledWhen Core::done_rule(const AgentState& agent, const OutboundDelivery& parcel) {
  const ConnectionState* first = find(agent.connections.front());
  if (first == nullptr || !first->capabilities.ack) return SettledWhen::Written;
  // Published clients acknowledge a DELIVER but not a CHANNEL_MESSAGE; ours acknowledge both.
  const bool silent = parcel.delivery.frame_kind == FrameKind::ChannelMessage && !first->capabilities.send_ack;
  return silent ? SettledWhen::Written : SettledWhen::Acknowledged;
}

bool Core::has_room(const AgentState& agent) {
  return std::ranges::all_of(agent.connections, [&](ConnectionId id) {
    const ConnectionState* connection = find(id);
    return connection == nullptr || connection->waiting_bytes < limits_.max_waiting_bytes;
  });
}

bool Core::is_being_read(const AgentState& agent) {
  return std::ranges::all_of(agent.connections, [&](ConnectionId id) {
    const ConnectionState* connection = find(id);
    return connection == nullptr || connection->pauses == 0;
  });
}

void Core::deliver_pending(AgentState& agent) {
  if (!agent.mailbox.connected() || !agent.connected() || store_ != StoreHealth::Healthy) return;
  const LaneLimit open = open_lanes(agent);
  while (has_room(agent)) {
    InFlight* item =
        agent.mailbox.send_next(open, [&](const OutboundDelivery& parcel) { return done_rule(agent, parcel); });
    if (item == nullptr) break;
    deliver(agent, *item);
  }
  if (auto page = agent.mailbox.begin_load(open)) {
    // What is ready already counts: with many flows each has its page, but never an empty one.
    const std::size_t most_spared = limits_.max_page_rows - std::min(limits_.max_page_rows, kSmallestPage);
    flush_changes();
    page_looks_.emplace(agent.name(), unseen_.begin_read());
    emit(LoadBacklog{{.to = agent.name(),
                      .lane = page->lane,
                      .from = std::move(page->from),
                      .after = page->after,
                      .max_rows = limits_.max_page_rows - std::min(agent.mailbox.ready_count(), most_spared),
                      .max_bytes = limits_.max_page_bytes}});
  }
}

void Core::deliver(AgentState& agent, InFlight& item) {
  const auto& delivery = item.parcel.delivery;
  const auto& message = *item.parcel.message;
  if (delivery.expires_at <= now_.wall) {
    // Out of time while it waited. Final here and now: were the wall clock to step back, it would be sent after later
    // ones of its stream, and be taken for a repetition.
    const auto late = agent.mailbox.finish(delivery.key);
    return end_delivery(agent, late->parcel, records::state_on_expiry(late->parcel.delivery.proof),
                        {.key = late->parcel.delivery.key,
                         .reason = std::string{protocol::expiry_reason(late->parcel.message->payload_meta,
                                                                       late->parcel.delivery.expires_at)}});
  }
  for (const auto& position : agent.resume_positions) {
    const bool topic_fits =
        position.topic == message.topic.value() || (message.topic.value().empty() && position.topic == "default");
    if (topic_fits && (position.peer.empty() || position.peer == message.from.value()) &&
        position.lane == delivery.lane && delivery.seq.value() <= position.last_seq) {
      const auto item_done = agent.mailbox.finish(delivery.key);  // RESUME said it was received
      return complete(agent, *item_done, {.key = item_done->parcel.delivery.key, .proof = Proof::Accepted});
    }
  }
  transmit(agent, item.parcel);
  if (item.done == SettledWhen::Written) return;
  put_off_resend(item);
  arm_resend(agent, item.resend_at);
}

void Core::transmit(AgentState& agent, const OutboundDelivery& parcel) {
  std::string frame = frame_of(agent, parcel);
  for (const ConnectionId id : agent.connections) {
    ConnectionState* connection = find(id);
    if (connection == nullptr || connection->phase != Phase::Active) continue;
    if (agent.connections.size() == 1) return send(*connection, std::move(frame));
    send(*connection, frame);
  }
}

void Core::put_off_resend(InFlight& item) const {
  const Millis shortest{limits_.ack_timeout_ms};
  const Millis longest = std::max(Millis{protocol::kMaxAckTimeoutMs}, shortest);
  item.resend_after = std::clamp(2 * item.resend_after, shortest, longest);
  item.resend_at = now_.steady + item.resend_after;
}

std::string Core::frame_of(const AgentState& agent, const OutboundDelivery& parcel) const {
  const auto& delivery = parcel.delivery;
  const auto& message = *parcel.message;
  std::string_view payload = message.payload;
  std::string spliced;
  if (const std::string members = spliced_members(delivery, message); !members.empty()) {
    if (const auto view = protocol::parse_send(payload)) {
      spliced = protocol::splice_data(payload, *view, members);
      payload = spliced;
    }
  }
  const bool channel = delivery.frame_kind == FrameKind::ChannelMessage;
  const bool own_address = channel || message.to == agent.name().value() || message.to == protocol::kConsensus;
  const std::string id = records::delivery_id(delivery.key);
  const std::string message_id = records::short_id(message.key);
  const std::string block = protocol::write_delivery({
      .seq = delivery.seq.value(),
      .session_id = agent.session->id.value(),
      .original_to = own_address ? std::string_view{} : std::string_view{message.to},
      .as_user = message.as_user() && agent.session->capabilities.send_ack,
      .message_id = message_id,
      .lane = delivery.lane,
      .mode = wished_mode(message) == delivery.lane.mode ? std::nullopt : std::optional{delivery.lane.mode},
      .attempt = delivery.attempts + 1,
      .expires_at = agent.session->capabilities.modes ? std::optional{delivery.expires_at} : std::nullopt,
  });
  return protocol::write_envelope({
      .type = channel ? MessageType::ChannelMessage : MessageType::Deliver,
      .id = id,
      .ts = message.ts,
      .from = message.from.value(),
      .to = channel ? std::string_view{} : std::string_view{agent.name().value()},
      .topic = message.topic.value(),
      .payload = payload,
      .payload_meta = message.payload_meta,
      .delivery = block,
  });
}

void Core::arm_resend(AgentState& agent, SteadyTime at) {
  if (agent.resend_at && *agent.resend_at <= at) return;
  agent.resend_at = at;
  timers_.arm(at, {.kind = TimerKind::Resend, .name = agent.name().value()});
}

void Core::resend_due(AgentState& agent, SteadyTime due) {
  if (agent.resend_at != due) return;  // another one was armed for an earlier time
  agent.resend_at.reset();
  if (!agent.mailbox.connected()) return;
  auto next = SteadyTime::max();
  const bool room = has_room(agent) && is_being_read(agent);
  for (auto& [key, item] : agent.mailbox.flight()) {
    if (item.done == SettledWhen::Written) continue;
    if (item.resend_at <= now_.steady) {
      // A peer that has not taken what it was sent needs time, not another copy; nor one whose answer we do not read.
      put_off_resend(item);
      if (room) transmit(agent, item.parcel);
    }
    next = std::min(next, item.resend_at);
  }
  if (next != SteadyTime::max()) arm_resend(agent, next);
}

void Core::backlog(records::BacklogPage page) {
  AgentState* agent = find_agent(page.to.value());
  if (agent == nullptr) return end_page_look(page.to);
  // Finished or put off, though the store did not know it when it was asked: not to be sent or counted again.
  std::erase_if(page.items, [&](const auto& item) {
    return unseen_.has(DeliveryChange::Finished, item.delivery.key) || is_held(item.delivery.key, item.delivery.hold);
  });
  end_page_look(page.to);
  agent->mailbox.page_arrived(std::move(page));
  deliver_pending(*agent);
}

void Core::end_page_look(const AgentName& name) {
  const auto look = page_looks_.find(name);
  if (look == page_looks_.end()) return;
  unseen_.end_read(look->second);
  page_looks_.erase(look);
}

void Core::backlog_failed(const records::BacklogRequest& asked, std::string_view why) {
  end_page_look(asked.to);
  AgentState* agent = find_agent(asked.to.value());
  if (agent == nullptr) return;
  note(WriteLog::Level::Warn, format("the mail of {} could not be read: {}", asked.to.value(), why));
  agent->mailbox.page_failed(asked.lane, asked.from);
  timers_.arm(now_.steady + kReloadRetryDelay, {.kind = TimerKind::ReloadRetry, .name = asked.to.value()});
}

void Core::arm_expiry(WallMs at) {
  if (next_expiry_ != 0 && next_expiry_ <= at && (expiry_due_ || expiring_)) return;
  next_expiry_ = next_expiry_ == 0 ? at : std::min(at, next_expiry_);
  const auto wait = std::clamp(Millis{next_expiry_ - now_.wall}, Millis{0}, kMaxExpiryWait);
  if (!expiring_) expiry_due_ = now_.steady + wait;
}

void Core::expire_due() {
  expiry_due_.reset();
  if (expiring_ || next_expiry_ == 0) return;
  if (next_expiry_ > now_.wall) return arm_expiry(next_expiry_);
  if (store_ != StoreHealth::Healthy || !nothing_unsaved()) {
    // What sessions said meanwhile is not in the store, which would take for expired what was delivered.
    expiry_due_ = now_.steady + kReloadRetryDelay;
    return;
  }
  next_expiry_ = 0;
  flush_changes();
  expiring_ = unseen_.begin_read();
  emit(ExpireDue{{.now = now_.wall}});
}

void Core::expired(records::ExpireResult result) {
  const WallMs known = std::exchange(next_expiry_, 0);
  newest_event_ = std::max(newest_event_, result.newest_event);
  for (const auto& gone : result.expired) {
    if (unseen_.has(DeliveryChange::Finished, gone.delivery)) continue;  // it was finished first
    if (AgentState* to = find_agent(gone.to.value())) {
      if (to->mailbox.is_with_session(gone.delivery)) send_cancel(*to, gone.delivery, gone.reason);
      to->mailbox.drop(gone.delivery);
      if (is_held(gone.delivery, gone.hold)) to->mailbox.release_one();
      settle_delivery(*to, gone.delivery);
      unseen_.stored(DeliveryChange::Finished, gone.delivery);
      deliver_pending(*to);
    }
    // Said by the store itself, so there is nothing to save: only to tell.
    tell({.key = gone.delivery, .state = gone.state, .at = now_.wall, .reason = gone.reason},
         {heading_of(gone.message, gone.from, gone.to), gone.to, protocol::NackCode::Expired});
  }
  unseen_.end_read(*std::exchange(expiring_, std::nullopt));
  if (known != 0) arm_expiry(known);
  if (result.next_expiry != 0) arm_expiry(result.next_expiry);
  notify_subscribers();
}

// ---------------------------------------------------------------- put off, and put back

void Core::arm_due(WallMs at) {
  if (next_due_ != 0 && next_due_ <= at) return;
  next_due_ = at;
  const auto wait = std::clamp(Millis{at - now_.wall}, Millis{0}, kMaxExpiryWait);
  timers_.arm(now_.steady + wait, {.kind = TimerKind::Due});
}

void Core::look_for_due() {
  if (asking_due_ || next_due_ == 0) return;
  if (next_due_ > now_.wall) return arm_due(std::exchange(next_due_, 0));
  if (store_ != StoreHealth::Healthy) return;  // what is put back could not be saved; looked at again when it works
  next_due_ = 0;
  flush_changes();
  asking_due_ = unseen_.begin_read();
  const QueryId id{next_query_++};
  due_query_ = id;
  emit(QueryHeld{id, {.due_by = now_.wall, .to = {}, .mode = {}, .after = {}}});
}

void Core::held(QueryId id, Result<records::HeldPage> page) {
  if (auto node = unable_.extract(id); !node.empty()) {
    const auto look = node.mapped().look;
    unable_page(std::move(node.mapped()), page);
    return unseen_.end_read(look);
  }
  if (id != due_query_) return flushed_page(id, std::move(page));
  const auto look = *std::exchange(asking_due_, std::nullopt);
  if (!page) {
    unseen_.end_read(look);
    note(WriteLog::Level::Warn, format("what was put off could not be read: {}", page.error().message()));
    next_due_ = 0;  // its timer may have run while we asked
    return arm_due(now_.wall + kReloadRetryDelay.count());
  }
  for (const auto& item : page->items) requeue(item.delivery, item.topic, item.delivery.lane, "its time has come");
  unseen_.end_read(look);
  const WallMs known = std::exchange(next_due_, 0);  // its timer may have run while we asked
  if (known != 0) arm_due(known);
  if (page->more || page->next_due != 0) arm_due(page->more ? now_.wall : page->next_due);
}

bool Core::is_held(Key key, records::Hold hold) const {
  const bool off = unseen_.has(DeliveryChange::Deferred, key), back = unseen_.has(DeliveryChange::Requeued, key);
  return off == back ? hold != records::Hold::None : off;
}

bool Core::requeue(const records::Delivery& delivery, const Topic& topic, protocol::Lane lane, std::string reason) {
  AgentState* to = find_agent(delivery.to.value());
  if (to == nullptr || to->removing || unseen_.has(DeliveryChange::Finished, delivery.key) ||
      unseen_.has(DeliveryChange::Requeued, delivery.key))
    return false;
  unseen_.add(DeliveryChange::Requeued, delivery.key);
  if (delivery.hold != records::Hold::None) to->mailbox.release_one();
  records::Delivery moved = delivery;
  moved.lane = lane;
  moved.rank = next_key();
  moved.seq = streams_.next(topic, delivery.from, delivery.to, lane);
  moved.state = DeliveryState::Queued;
  moved.proof = Proof::Stored;
  moved.hold = records::Hold::None;
  save_eventually(records::SetStream{{topic, moved.from, moved.to, lane, moved.seq, Seq{}}});  // saved again with it
  save_eventually(records::RequeueDelivery{moved.key, lane, moved.rank, moved.seq, now_.wall, std::move(reason)});
  when_saved([this, moved = std::move(moved)] {
    AgentState* agent = find_agent(moved.to.value());
    unseen_.stored(DeliveryChange::Requeued, moved.key);
    if (agent == nullptr || unseen_.has(DeliveryChange::Finished, moved.key)) return;
    if (auto in_hand = agent->mailbox.move_unsettled(moved.key, moved.lane)) {
      // Its session has it already, and hears only where it belongs now.
      agent->mailbox.committed({moved, std::move(in_hand->message)}, limits_.max_page_rows);
    } else {
      agent->mailbox.drop(moved.key);
      agent->mailbox.moved(moved.key, moved.rank);
      agent->mailbox.expect(moved.lane, moved.from);
      if (lane_state(*agent, moved.lane).closed == LaneBlock::Unsupported) defer_unsupported(*agent, moved);
    }
    deliver_pending(*agent);
  });
  return true;
}

void Core::expire_failed(std::string_view why) {
  note(WriteLog::Level::Warn, format("expired messages could not be marked: {}", why));
  unseen_.end_read(*std::exchange(expiring_, std::nullopt));
  next_expiry_ = next_expiry_ == 0 ? now_.wall : std::min(next_expiry_, now_.wall);  // what was due is due still
  expiry_due_ = now_.steady + kReloadRetryDelay;
}

}  // namespace relay::broker
