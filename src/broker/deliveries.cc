#include "broker/deliveries.h"

#include <algorithm>

#include "base/format.h"
#include "broker/delivery_frame.h"
#include "broker/lanes.h"
#include "protocol/control.h"
#include "records/short_id.h"

namespace relay::broker {

using protocol::MessageType;
using records::FrameKind;
using records::Proof;

namespace {

constexpr Millis kReloadRetryDelay{1'000};
constexpr std::size_t kMinPageRows = 8;  // of one flow, even if other flows have many ready

}  // namespace

SettledWhen Deliveries::settled_when(const AgentState& agent, const OutboundDelivery& outbound) {
  const ConnectionState* first = connections_.find(agent.connections->front());
  if (first == nullptr || !first->capabilities->ack) return SettledWhen::Written;
  // Published clients acknowledge a DELIVER but not a CHANNEL_MESSAGE; this project's clients acknowledge both.
  const bool silent = outbound.delivery.frame_kind == FrameKind::ChannelMessage && !first->capabilities->send_ack;
  return silent ? SettledWhen::Written : SettledWhen::Acknowledged;
}

bool Deliveries::has_room(const AgentState& agent) {
  return std::ranges::all_of(*agent.connections, [&](ConnectionId id) {
    const ConnectionState* connection = connections_.find(id);
    return connection == nullptr || connections_.has_room(*connection);
  });
}

bool Deliveries::is_being_read(const AgentState& agent) {
  return std::ranges::all_of(*agent.connections, [&](ConnectionId id) {
    const ConnectionState* connection = connections_.find(id);
    return connection == nullptr || !Connections::is_paused(*connection);
  });
}

void Deliveries::deliver_pending(AgentState& agent) {
  if (!agent.mailbox.connected() || !agent.connected() || !commits_.is_healthy()) return;
  const LaneLimit open = open_lanes(agent);
  while (has_room(agent)) {
    InFlight* item =
        agent.mailbox.send_next(open, [&](const OutboundDelivery& outbound) { return settled_when(agent, outbound); });
    if (item == nullptr) break;
    deliver(agent, *item);
  }
  if (auto page = agent.mailbox.start_load(open)) {
    // Ready deliveries count towards the limit: with many flows each gets a page, but never an empty one.
    const std::size_t max_spared =
        context_.limits().max_page_rows - std::min(context_.limits().max_page_rows, kMinPageRows);
    commits_.flush();
    page_reads_.emplace(agent.name(), changes_during_read_.start_read());
    context_.emit(
        LoadBacklog{{.to = agent.name(),
                     .lane = page->lane,
                     .from = std::move(page->from),
                     .after = page->after,
                     .max_rows = context_.limits().max_page_rows - std::min(agent.mailbox.ready_count(), max_spared),
                     .max_bytes = context_.limits().max_page_bytes}});
  }
}

void Deliveries::deliver_committed(AgentState& to, OutboundDelivery outbound) {
  if (outbound.delivery.hold != records::Hold::None) return;
  const auto lane = outbound.delivery.lane;
  if (to.mailbox.connected()) {
    if (const auto block = lane_state(to, lane).block; block != LaneBlock::No)
      history_.record(to, outbound.message,
                      {.key = outbound.delivery.key,
                       .state = records::DeliveryState::Deferred,
                       .reason = block_reason(to, lane, block)},
                      block == LaneBlock::Unsupported ? std::optional{protocol::NackCode::Unsupported} : std::nullopt);
  }
  to.mailbox.committed(std::move(outbound), context_.limits().max_page_rows);
  deliver_pending(to);
}

void Deliveries::deliver(AgentState& agent, InFlight& item) {
  const auto& delivery = item.outbound.delivery;
  const auto& message = *item.outbound.message;
  if (delivery.expires_at <= context_.wall()) {
    // It expired while it was pending, and ends now: after a step back of the wall clock it would be sent after later
    // deliveries of its stream and look like a duplicate.
    const auto late = agent.mailbox.finish(delivery.key);
    return settlement_.end_delivery(agent, late->outbound, records::state_on_expiry(late->outbound.delivery.proof),
                                    {.key = late->outbound.delivery.key,
                                     .reason = std::string{protocol::expiry_reason(
                                         late->outbound.message->payload_meta, late->outbound.delivery.expires_at)}});
  }
  for (const auto& position : agent.window->resume_positions) {
    const bool topic_fits =
        position.topic == message.topic.value() || (message.topic.value().empty() && position.topic == "default");
    if (topic_fits && (position.peer.empty() || position.peer == message.from.value()) &&
        position.lane == delivery.lane && delivery.seq.value() <= position.last_seq) {
      const auto received = agent.mailbox.finish(delivery.key);  // as RESUME reported
      return settlement_.complete(agent, *received, {.key = received->outbound.delivery.key, .proof = Proof::Accepted});
    }
  }
  transmit(agent, item.outbound);
  if (item.settled_when == SettledWhen::Written) return;
  schedule_resend(item);
  arm_resend(agent, item.resend_at);
}

void Deliveries::transmit(AgentState& agent, const OutboundDelivery& outbound) {
  std::string frame = delivery_frame(agent, outbound);
  for (const ConnectionId id : *agent.connections) {
    ConnectionState* connection = connections_.find(id);
    if (connection == nullptr || connection->phase != Phase::Active) continue;
    if (agent.connections->size() == 1) return connections_.send(*connection, std::move(frame));
    connections_.send(*connection, frame);
  }
}

void Deliveries::schedule_resend(InFlight& item) const {
  const Millis min{context_.limits().ack_timeout_ms};
  const Millis max = std::max(Millis{protocol::kMaxAckTimeoutMs}, min);
  item.resend_after = std::clamp(2 * item.resend_after, min, max);
  item.resend_at = context_.steady() + item.resend_after;
}

void Deliveries::arm_resend(AgentState& agent, SteadyTime at) {
  auto& resend_at = agent.window->resend_at;
  if (resend_at && *resend_at <= at) return;
  resend_at = at;
  context_.arm(at, {.kind = TimerKind::Resend, .name = agent.name().value()});
}

void Deliveries::resend_due(AgentState& agent, SteadyTime due) {
  if (agent.window->resend_at != due) return;  // another one was armed for an earlier time
  agent.window->resend_at.reset();
  if (!agent.mailbox.connected()) return;
  auto next = SteadyTime::max();
  const bool room = has_room(agent) && is_being_read(agent);
  for (auto& [key, item] : agent.mailbox.flight()) {
    if (item.settled_when == SettledWhen::Written) continue;
    if (item.resend_at <= context_.steady()) {
      // A peer that has not read the frame needs time, not another copy; likewise if its answer is not being read.
      schedule_resend(item);
      if (room) transmit(agent, item.outbound);
    }
    next = std::min(next, item.resend_at);
  }
  if (next != SteadyTime::max()) arm_resend(agent, next);
}

void Deliveries::on_all_written(AgentState& agent) {
  for (const InFlight& item : agent.mailbox.finish_written())
    settlement_.complete(agent, item, {.key = item.outbound.delivery.key, .proof = Proof::Written});
}

void Deliveries::send_cancel(AgentState& agent, Key key, std::string_view reason) {
  const auto cancel = protocol::write_cancel({.delivery_id = records::delivery_id(key), .reason = std::string{reason}});
  for (const ConnectionId id : *agent.connections) {
    ConnectionState* connection = connections_.find(id);
    if (connection != nullptr && connection->phase == Phase::Active && connection->capabilities->modes)
      connections_.send_new(*connection, MessageType::Cancel, cancel);
  }
}

void Deliveries::on_backlog(records::BacklogPage page) {
  AgentState* agent = agents_.find(page.to.value());
  if (agent == nullptr) return end_page_read(page.to);
  // Deliveries that were finished or deferred after the store read the page are not sent or counted again.
  std::erase_if(page.items, [&](const auto& item) {
    return changes_during_read_.has(DeliveryChange::Finished, item.delivery.key) ||
           changes_during_read_.is_held(item.delivery.key, item.delivery.hold != records::Hold::None);
  });
  end_page_read(page.to);
  agent->mailbox.page_arrived(std::move(page));
  deliver_pending(*agent);
}

void Deliveries::end_page_read(const AgentName& name) {
  const auto read = page_reads_.find(name);
  if (read == page_reads_.end()) return;
  changes_during_read_.end_read(read->second);
  page_reads_.erase(read);
}

void Deliveries::on_backlog_failed(const records::BacklogRequest& request, std::string_view why) {
  end_page_read(request.to);
  AgentState* agent = agents_.find(request.to.value());
  if (agent == nullptr) return;
  context_.log(WriteLog::Level::Warn, format("cannot read backlog agent={} error=\"{}\"", request.to.value(), why));
  agent->mailbox.page_failed(request.lane, request.from);
  context_.arm(context_.steady() + kReloadRetryDelay, {.kind = TimerKind::ReloadRetry, .name = request.to.value()});
}

}  // namespace relay::broker
