// CONTROL of deliveries: flush, retry, cancel, read, redeliver.
#include <algorithm>

#include "base/format.h"
#include "broker/authority.h"
#include "broker/control.h"
#include "broker/message_queries.h"
#include "records/short_id.h"

namespace relay::broker {

using protocol::ControlAction;
using protocol::NackCode;
using records::DeliveryState;

namespace {

constexpr std::size_t kPageRows = 500;  // of one step of an operation on many deliveries
constexpr std::size_t kMaxReportedIds = 100;

bool ended_undelivered(DeliveryState state) {
  return state == DeliveryState::Dead || state == DeliveryState::Failed || state == DeliveryState::Expired ||
         state == DeliveryState::InDoubt;
}

}  // namespace

void Control::request_held(Operation operation) {
  commits_.flush();  // the result covers everything that was sent before
  records::HeldRequest request;
  request.to = AgentName{operation.request.agent};
  request.mode = operation.request.mode;
  request.after = operation.cursor;
  request.max_rows = kPageRows;
  queries_.run(std::move(request), [this, read = changes_during_read_.start_read(),
                                    operation = std::move(operation)](Result<records::HeldPage> page) mutable {
    flush(std::move(operation), page);
    changes_during_read_.end_read(read);
  });
}

void Control::flush(Operation operation, const Result<records::HeldPage>& page) {
  if (!page) return answer(operation, {{NackCode::Storage, page.error().message()}});
  const auto wanted = records::key_of_delivery_id(operation.request.delivery_id);
  for (const auto& item : page->items) {
    operation.cursor = item.delivery.key;
    if (!operation.request.delivery_id.empty() && wanted != item.delivery.key) continue;
    if (operation.own && item.delivery.hold == records::Hold::Policy) {
      ++operation.policy_held;
      continue;
    }
    protocol::Lane lane = item.delivery.lane;
    auto reason = format("flushed by {}", operation.by);
    if (lane.mode == protocol::DeliveryMode::Manual) {
      lane.mode = protocol::DeliveryMode::OnIdle;
      reason += "; it was sent as manual";
    }
    if (held_.requeue(item.delivery, item.topic, lane, reason)) ++operation.count;
  }
  if (page->more) return request_held(std::move(operation));
  if (operation.count == 0 && operation.policy_held > 0)
    if (const auto refused = check(operation, "release deliveries that a policy holds", {}))
      return answer(operation, refused);
  answer_when_saved(std::move(operation));
}

void Control::request_deliveries(Operation operation) {
  const auto& request = operation.request;
  records::DeliveryQuery query;
  if (!request.all) {
    const auto key = records::key_of_delivery_id(request.delivery_id);
    if (!key)
      return answer(operation,
                    {{NackCode::BadRequest, format("'{}' is not the id of a delivery; `agent-relay trace` lists them",
                                                   request.delivery_id)}});
    query.deliveries = {*key};
  } else {
    query.to = request.agent;
    query.states = request.states.empty()
                       ? std::vector{DeliveryState::Dead, DeliveryState::Failed, DeliveryState::Expired}
                       : parse_dead_states(request.states);
    query.after = operation.cursor;
    query.before = operation.end;
    query.oldest_first = true;  // they are redelivered in their old order
    query.limit = kPageRows;
  }
  commits_.flush();
  queries_.run(std::move(query), [this, read = changes_during_read_.start_read(), operation = std::move(operation)](
                                     Result<std::vector<records::DeliveryRow>> rows) mutable {
    on_deliveries(std::move(operation), std::move(rows));
    changes_during_read_.end_read(read);
  });
}

void Control::on_deliveries(Operation operation, Result<std::vector<records::DeliveryRow>> rows) {
  if (!rows) return answer(operation, {{NackCode::Storage, rows.error().message()}});
  if (!operation.request.all) {
    if (rows->empty())
      return answer(operation,
                    {{NackCode::BadRequest, format("no delivery has the id {}", operation.request.delivery_id)}});
    operation.count = 0;
    return execute(std::move(operation), std::move(rows->front()));
  }
  for (const auto& row : *rows) {
    operation.cursor = row.delivery.key;
    redeliver(operation, row);
  }
  if (!rows->empty())
    return request_deliveries(std::move(operation));  // a page may be short because its messages are long
  answer_when_saved(std::move(operation));
}

void Control::execute(Operation operation, records::DeliveryRow row) {
  const auto& delivery = row.delivery;
  const bool final =
      records::is_final(delivery.state) || changes_during_read_.has(DeliveryChange::Finished, delivery.key);
  AgentState* to = agents_.find(delivery.to.value());
  if (to == nullptr)
    return answer(operation, {{NackCode::UnknownRecipient, agents_.unknown_reason(delivery.to.value())}});
  operation.count = 1;
  std::optional<Rejection> rejected;
  switch (operation.request.action) {
    case ControlAction::Retry: rejected = retry(operation, row, final); break;
    case ControlAction::Cancel: rejected = cancel(operation, row, *to, final); break;
    case ControlAction::Read:
      if (connections_.find(operation.client.connection) == nullptr) return answer(operation);
      rejected = read(operation, row, *to, final);
      break;
    default: rejected = redeliver_one(operation, row, *to);
  }
  if (rejected) return answer(operation, rejected);
  answer_when_saved(std::move(operation));
}

namespace {

Rejection stale(const protocol::ControlRequest& request, const records::Delivery& delivery, std::string_view what) {
  return {NackCode::Stale, format("{} {}: it is {}", request.delivery_id, what, name_of(delivery.state))};
}

}  // namespace

std::optional<Rejection> Control::retry(const Operation& operation, const records::DeliveryRow& row, bool final) {
  const auto& delivery = row.delivery;
  if (auto refused = check(operation, "retry messages of other agents", {delivery.from.value(), delivery.to.value()}))
    return refused;
  if (final || delivery.hold != records::Hold::Time)
    return stale(operation.request, delivery, "is not held until a retry");
  held_.requeue(delivery, row.message.topic, delivery.lane, format("retried now, requested by {}", operation.by));
  return std::nullopt;
}

std::optional<Rejection> Control::cancel(const Operation& operation, records::DeliveryRow& row, AgentState& to,
                                         bool final) {
  const auto& delivery = row.delivery;
  if (auto refused = check(operation, "cancel messages of other agents", {delivery.from.value(), delivery.to.value()}))
    return refused;
  if (final) return stale(operation.request, delivery, "has already ended");
  const std::string reason = operation.request.reason.empty()
                                 ? format("cancelled by {}", operation.by)
                                 : format("cancelled by {}: {}", operation.by, operation.request.reason);
  if (to.mailbox.is_with_session(delivery.key)) {
    // Only the session that has it can tell whether it has started to deliver it, and reports the outcome.
    if (!to.session->capabilities.modes)
      return stale(operation.request, delivery, "is with a session that cannot return it");
    deliveries_.send_cancel(to, delivery.key, reason);
    settlement_.request_cancel(to, delivery.key, reason,
                               {delivery, std::make_shared<const records::Message>(std::move(row.message))});
    return std::nullopt;
  }
  end_pending(to, row, records::state_on_cancel(delivery.proof), {.key = delivery.key, .reason = reason});
  deliveries_.deliver_pending(to);
  return std::nullopt;
}

std::optional<Rejection> Control::read(const Operation& operation, records::DeliveryRow& row, AgentState& to,
                                       bool final) {
  const auto& delivery = row.delivery;
  const ConnectionState& reader = *connections_.find(operation.client.connection);
  if (auto refused = check_reader(reader, delivery.to)) return refused;
  if (final) return stale(operation.request, delivery, "has already ended");
  if (to.connected()) return stale(operation.request, delivery, "goes to the agent's connected session");
  end_pending(to, row, DeliveryState::Delivered,
              {.key = delivery.key,
               .proof = records::Proof::Seen,
               .reason = std::string{protocol::kReadInInbox},
               .via = "inbox",
               .evidence = "printed by the inbox command"});
  return std::nullopt;
}

void Control::end_pending(AgentState& to, records::DeliveryRow& row, DeliveryState state,
                          records::ChangeDelivery entry) {
  const auto& delivery = row.delivery;
  to.mailbox.drop(delivery.key);
  if (changes_during_read_.is_held(delivery.key, delivery.hold != records::Hold::None)) to.mailbox.release_one();
  const OutboundDelivery outbound{delivery, std::make_shared<const records::Message>(std::move(row.message))};
  settlement_.end_delivery(to, outbound, state, std::move(entry));
}

std::optional<Rejection> Control::redeliver_one(Operation& operation, const records::DeliveryRow& row, AgentState& to) {
  const auto& delivery = row.delivery;
  if (auto refused =
          check(operation, "redeliver messages of other agents", {delivery.from.value(), delivery.to.value()}))
    return refused;
  if (is_held_by_policy(operation, to, delivery.from))
    if (auto refused = check(operation, "redeliver messages that a policy holds or refuses", {})) return refused;
  if (!ended_undelivered(delivery.state)) return stale(operation.request, delivery, "cannot be redelivered");
  if (changes_during_read_.has(DeliveryChange::Redelivered, delivery.key))
    return stale(operation.request, delivery, "is already being redelivered");
  operation.count = 0;
  redeliver(operation, row);
  if (operation.count > 0) return std::nullopt;
  return Rejection{NackCode::Busy, format("{} already has {} pending messages; try again later", delivery.to.value(),
                                          to.mailbox.pending())};
}

/// No policy is applied to a redelivered message; an agent must not evade the user's settings this way.
bool Control::is_held_by_policy(const Operation& operation, const AgentState& to, const AgentName& from) {
  return operation.own && decide(to.record->policy, from.value()) != protocol::DeliveryPolicyAction::Accept;
}

void Control::redeliver(Operation& operation, const records::DeliveryRow& row) {
  AgentState* to = agents_.find(row.delivery.to.value());
  if (to == nullptr || to->removing || to->mailbox.pending() >= context_.limits().max_backlog) return;
  if (is_held_by_policy(operation, *to, row.delivery.from)) return;
  if (changes_during_read_.has(DeliveryChange::Redelivered, row.delivery.key)) return;
  changes_during_read_.add(DeliveryChange::Redelivered, row.delivery.key);
  records::Delivery fresh = row.delivery;
  fresh.key = fresh.rank = context_.next_key();
  fresh.seq = streams_.next(row.message.topic, fresh.from, fresh.to, fresh.lane);
  fresh.state = DeliveryState::Queued;
  fresh.proof = records::Proof::Stored;
  fresh.hold = records::Hold::None;
  fresh.available_at = 0;
  fresh.attempts = 0;
  fresh.expires_at = context_.wall() + context_.limits().default_ttl_ms;
  fresh.queued_offline = !to->connected();
  to->mailbox.add_pending();
  expiry_.arm(fresh.expires_at);
  commits_.change(records::AddDelivery{fresh, {}, context_.wall()});
  const records::ChangeDelivery old{
      .key = row.delivery.key,
      .state = DeliveryState::Cancelled,
      .proof = row.delivery.proof,
      .at = context_.wall(),
      .reason = format("{}{} by {}", kRedeliveredAs, records::delivery_id(fresh.key), operation.by)};
  commits_.change(old);
  ++operation.count;
  if (operation.ids.size() < kMaxReportedIds) operation.ids.push_back(records::delivery_id(fresh.key));
  commits_.when_committed(
      [this, fresh, old, message = std::make_shared<const records::Message>(row.message)](CommitResult result) {
        AgentState* recipient = agents_.find(fresh.to.value());
        if (result == CommitResult::Done)
          changes_during_read_.stored(DeliveryChange::Redelivered, old.key);
        else
          changes_during_read_.undo(DeliveryChange::Redelivered, old.key);
        if (recipient == nullptr) return;
        if (result == CommitResult::Failed) return recipient->mailbox.settle_one();
        deliveries_.deliver_committed(*recipient, {fresh, message});
      });
}

}  // namespace relay::broker
