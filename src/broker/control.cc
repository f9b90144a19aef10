// Steering: a person's hand on deliveries and agents.
#include <algorithm>

#include "base/format.h"
#include "broker/core.h"
#include "records/short_id.h"

namespace relay::broker {

using protocol::ControlAction;
using protocol::ErrorCode;
using protocol::MessageType;
using protocol::NackCode;
using records::DeliveryState;
using text::JsonWriter;

namespace {

constexpr std::size_t kSteeringRows = 500;  // of one step of something that concerns many
constexpr std::size_t kMaxToldIds = 100;

bool ended_undelivered(DeliveryState state) {
  return state == DeliveryState::Dead || state == DeliveryState::Failed || state == DeliveryState::Expired ||
         state == DeliveryState::InDoubt;
}

/// What the user set to hold agents back: an agent may add to it, never take it away.
bool changes_user_settings(const protocol::ControlRequest& request) {
  return (request.action == ControlAction::Policy && request.rules) || request.action == ControlAction::Unpause ||
         request.action == ControlAction::ResetLoop;
}

/// Needs no check of whose agent it concerns: it only tells, or is checked by who the recipient is.
bool is_free_for_agents(const protocol::ControlRequest& request) {
  return request.action == ControlAction::Policy || request.action == ControlAction::Read;
}

}  // namespace

// ---------------------------------------------------------------- CONTROL

void Core::on_control(ConnectionState& connection, const protocol::Envelope& envelope) {
  if (connection.open_queries >= limits_.max_open_queries)
    return error(connection, ErrorCode::Busy,
                 format("{} questions are open already; wait for an answer", connection.open_queries));
  ++connection.open_queries;  // until it is answered
  ControlOperation steering{.connection = connection.id,
                            .request_id = std::string{envelope.id},
                            .by = !connection.query_only                 ? connection.agent.value()
                                  : connection.peer.origin.agent.empty() ? "a person"
                                                                         : connection.peer.origin.agent,
                            .request = {},
                            .end = Key{newest_.value() + 1}};
  auto request = protocol::parse_control(envelope.payload);
  if (!request) return answer_control(steering, {{NackCode::BadRequest, request.error().message()}});
  steering.request = *std::move(request);
  AgentState* agent = steering.request.agent.empty() ? nullptr : find_agent(steering.request.agent);
  if (agent == nullptr && !steering.request.agent.empty())
    return answer_control(steering, {{NackCode::UnknownRecipient, unknown_recipient(steering.request.agent)}});
  if (changes_user_settings(steering.request))
    if (auto refused = require_user(connection, "change policies, pauses and loop stops"))
      return answer_control(steering, refused);
  if (connection.peer.origin.is_user() || is_free_for_agents(steering.request))
    return start_steering(std::move(steering));
  // Which agents it started is known by the records of their hosts.
  steering.own.emplace();
  if (!connection.query_only) steering.own->push_back(connection.agent.value());
  if (const auto& inside = connection.peer.origin.agent; !inside.empty()) steering.own->push_back(inside);
  const QueryId id{next_query_++};
  emit(ListHosts{id});
  steerings_.emplace(id, std::move(steering));
}

void Core::steer_own(ControlOperation steering, const Result<std::vector<Worker>>& workers) {
  const auto asking = *steering.own;
  if (workers)
    for (const Worker& worker : *workers)
      if (std::ranges::find(asking, worker.spawner) != asking.end() && has_session(worker))
        steering.own->push_back(worker.name);
  start_steering(std::move(steering));
}

bool Core::has_session(const Worker& worker) {
  const AgentState* agent = find_agent(worker.name);
  if (agent == nullptr) return true;
  std::int32_t pid = agent->lost_pid;
  if (agent->connected())
    if (const ConnectionState* connection = find(agent->connections.front())) pid = connection->peer.pid;
  return pid == 0 || pid == worker.pid;
}

/// An agent steers what concerns itself or an agent that it started; the rest is the user's.
std::optional<Core::Rejection> Core::check_control(const ControlOperation& steering, std::string_view action,
                                                   std::initializer_list<std::string_view> concerned) {
  if (!steering.own) return std::nullopt;
  for (const auto name : concerned)
    if (std::ranges::find(*steering.own, name) != steering.own->end()) return std::nullopt;
  if (const ConnectionState* connection = find(steering.connection)) return require_user(*connection, action);
  return Rejection{NackCode::Refused, format("only the user may {}", action)};  // it has gone, and hears nothing
}

void Core::start_steering(ControlOperation steering) {
  AgentState* agent = steering.request.agent.empty() ? nullptr : find_agent(steering.request.agent);
  if (agent == nullptr && !steering.request.agent.empty())  // it was removed while the hosts were asked
    return answer_control(steering, {{NackCode::UnknownRecipient, unknown_recipient(steering.request.agent)}});
  const std::string_view name = steering.request.agent;
  const auto refused = steering.request.action == ControlAction::Pause
                           ? check_control(steering, "pause other agents", {name})
                       : steering.request.action == ControlAction::Flush
                           ? check_control(steering, "flush messages of other agents", {name})
                       : steering.request.all ? check_control(steering, "redeliver messages of other agents", {name})
                                              : std::nullopt;
  if (refused) return answer_control(steering, refused);
  switch (steering.request.action) {
    case ControlAction::Flush: return ask_held(std::move(steering));
    case ControlAction::Retry:
    case ControlAction::Cancel:
    case ControlAction::Read:
    case ControlAction::Redeliver: return ask_dead(std::move(steering));
    case ControlAction::Pause:
    case ControlAction::Unpause: return set_paused(std::move(steering), *agent);
    case ControlAction::Policy: return set_policy(std::move(steering), *agent);
    case ControlAction::ResetLoop:
      steering.count = loops_.reset(steering.request.from, steering.request.to);
      return answer_control(steering);
  }
}

void Core::answer_control(const ControlOperation& steering, const std::optional<Rejection>& objection) {
  ConnectionState* connection = find(steering.connection);
  if (connection == nullptr) return;
  --connection->open_queries;
  if (connection->phase != Phase::Active) return;
  const auto& request = steering.request;
  JsonWriter payload;
  payload.field("replyTo", steering.request_id).field("success", !objection);
  payload.field("action", name_of(request.action)).optional("agent", request.agent);
  if (objection) {
    payload.field("error", objection->sentence).field("code", name_of(objection->refusal));
  } else if (request.action == ControlAction::Policy) {
    const AgentState* agent = find_agent(request.agent);
    payload.raw("rules", protocol::write_policy(agent != nullptr ? agent->record.policy
                                                                 : std::vector<protocol::DeliveryPolicyRule>{}));
    if (agent != nullptr && agent->mailbox.held > 0) payload.field("held", agent->mailbox.held);
  } else {
    payload.field("count", steering.count);
    if (!steering.ids.empty()) {
      payload.begin_array("deliveryIds");
      for (const auto& id : steering.ids) payload.element(id);
      payload.end();
    }
  }
  send_new(*connection, MessageType::ControlResult, payload.take());
}

void Core::answer_control_when_saved(ControlOperation steering) {
  when_committed([this, steering = std::move(steering)](CommitResult saving) {
    if (saving == CommitResult::Done) return answer_control(steering);
    const bool gone = steering.request.action == ControlAction::Redeliver;
    answer_control(steering, {{NackCode::Storage,
                               gone ? "it could not be stored; try again"
                                    : "it could not be stored yet, and is tried again; see `agent-relay status`"}});
  });
}

// ---------------------------------------------------------------- pause and policy

void Core::set_paused(ControlOperation steering, AgentState& agent) {
  const bool paused = steering.request.action == ControlAction::Pause;
  if (paused && agent.cannot_be_addressed())
    return answer_control(steering, {{NackCode::Unsupported,
                                      format("{} is only observed: it was started without agent-relay, so it cannot "
                                             "be paused",
                                             agent.name().value())}});
  const bool changed = agent.record.paused != paused || agent.record.pause_reason != steering.request.reason;
  agent.record.paused = paused;
  agent.record.pause_reason = paused ? steering.request.reason : std::string{};
  steering.count = changed ? 1 : 0;
  if (changed) {
    save_eventually(records::PutAgent{agent.record});
    note(WriteLog::Level::Info, format("{} {} {}", steering.by, paused ? "paused" : "unpaused", agent.name().value()));
    notify_paused(agent);
    emit(RosterChanged{});
    deliver_pending(agent);
  }
  answer_control_when_saved(std::move(steering));
}

void Core::notify_paused(AgentState& agent) {
  for (const ConnectionId id : agent.connections) {
    ConnectionState* connection = find(id);
    if (connection != nullptr && connection->phase == Phase::Active && connection->capabilities.pause)
      send_new(*connection, MessageType::Pause,
               protocol::write_pause({.paused = agent.record.paused, .reason = agent.record.pause_reason}));
  }
}

void Core::set_policy(ControlOperation steering, AgentState& agent) {
  if (!steering.request.rules) return answer_control(steering);
  agent.record.policy = *steering.request.rules;
  save_eventually(records::PutAgent{agent.record});
  answer_control_when_saved(std::move(steering));
}

// ---------------------------------------------------------------- flush

void Core::ask_held(ControlOperation steering) {
  flush_changes();  // what is read next covers everything said before
  const QueryId id{next_query_++};
  records::HeldRequest request;
  request.to = AgentName{steering.request.agent};
  request.mode = steering.request.mode;
  request.after = steering.cursor;
  request.max_rows = kSteeringRows;
  steering.look = unseen_.begin_read();
  emit(QueryHeld{id, std::move(request)});
  steerings_.emplace(id, std::move(steering));
}

void Core::flushed_page(QueryId id, Result<records::HeldPage> page) {
  auto node = steerings_.extract(id);
  if (node.empty()) return;
  const auto look = node.mapped().look;
  flush(std::move(node.mapped()), std::move(page));
  unseen_.end_read(look);
}

void Core::flush(ControlOperation steering, Result<records::HeldPage> page) {
  if (!page) return answer_control(steering, {{NackCode::Storage, page.error().message()}});
  const auto wanted = records::key_of_delivery_id(steering.request.delivery_id);
  for (const auto& item : page->items) {
    steering.cursor = item.delivery.key;
    if (!steering.request.delivery_id.empty() && wanted != item.delivery.key) continue;
    if (steering.own && item.delivery.hold == records::Hold::Policy) {
      ++steering.policy_held;
      continue;
    }
    protocol::Lane lane = item.delivery.lane;
    auto reason = format("flushed by {}", steering.by);
    if (lane.mode == protocol::DeliveryMode::Manual) {
      lane.mode = protocol::DeliveryMode::OnIdle;
      reason += "; it was sent as manual";
    }
    if (requeue(item.delivery, item.topic, lane, reason)) ++steering.count;
  }
  if (page->more) return ask_held(std::move(steering));
  if (steering.count == 0 && steering.policy_held > 0)
    if (const auto refused = check_control(steering, "let go what a policy holds", {}))
      return answer_control(steering, refused);
  answer_control_when_saved(std::move(steering));
}

// ---------------------------------------------------------------- retry, cancel, redeliver

void Core::ask_dead(ControlOperation steering) {
  const auto& request = steering.request;
  records::DeadQuery query;
  if (!request.all) {
    const auto key = records::key_of_delivery_id(request.delivery_id);
    if (!key)
      return answer_control(
          steering, {{NackCode::BadRequest,
                      format("'{}' is no delivery's id; `agent-relay trace` shows them", request.delivery_id)}});
    query.deliveries = {*key};
  } else {
    query.to = request.agent;
    query.states = request.states.empty()
                       ? std::vector{DeliveryState::Dead, DeliveryState::Failed, DeliveryState::Expired}
                       : parse_dead_states(request.states);
    query.after = steering.cursor;
    query.before = steering.end;
    query.oldest_first = true;  // they are sent again in their old order
    query.limit = kSteeringRows;
  }
  flush_changes();
  const QueryId id{next_query_++};
  steering.look = unseen_.begin_read();
  emit(QueryDead{id, std::move(query)});
  steerings_.emplace(id, std::move(steering));
}

void Core::execute_on_delivery(ControlOperation steering, records::DeadLetter letter) {
  auto& delivery = letter.delivery;
  const bool final = records::is_final(delivery.state) || unseen_.has(DeliveryChange::Finished, delivery.key);
  AgentState* to = find_agent(delivery.to.value());
  if (to == nullptr)
    return answer_control(steering, {{NackCode::UnknownRecipient, unknown_recipient(delivery.to.value())}});
  const auto refuse_it = [&](std::string_view what) {
    answer_control(
        steering,
        {{NackCode::Stale, format("{} {}: it is {}", steering.request.delivery_id, what, name_of(delivery.state))}});
  };
  const auto concerns_other = [&](std::string_view action) {
    return check_control(steering, action, {delivery.from.value(), delivery.to.value()});
  };
  steering.count = 1;
  switch (steering.request.action) {
    case ControlAction::Retry:
      if (const auto refused = concerns_other("retry messages of other agents"))
        return answer_control(steering, refused);
      if (final || delivery.hold != records::Hold::Time) return refuse_it("does not wait for another try");
      requeue(delivery, letter.message.topic, delivery.lane, format("tried now, asked by {}", steering.by));
      break;
    case ControlAction::Cancel: {
      if (const auto refused = concerns_other("cancel messages of other agents"))
        return answer_control(steering, refused);
      if (final) return refuse_it("has ended already");
      const std::string reason = steering.request.reason.empty()
                                     ? format("cancelled by {}", steering.by)
                                     : format("cancelled by {}: {}", steering.by, steering.request.reason);
      if (to->mailbox.is_with_session(delivery.key)) {
        // Its session has it: only that one knows whether it has begun, and says what became of it.
        if (!to->session->capabilities.modes) return refuse_it("is in the hands of a session that cannot give it back");
        send_cancel(*to, delivery.key, reason);
        to->asked_back[delivery.key] = {
            reason, {delivery, std::make_shared<const records::Message>(std::move(letter.message))}};
        break;
      }
      to->mailbox.drop(delivery.key);
      if (is_held(delivery.key, delivery.hold)) to->mailbox.release_one();
      const OutboundDelivery parcel{delivery, std::make_shared<const records::Message>(std::move(letter.message))};
      end_delivery(*to, parcel, DeliveryState::Cancelled, {.key = delivery.key, .reason = reason});
      deliver_pending(*to);
      break;
    }
    case ControlAction::Read: {
      const ConnectionState* reader = find(steering.connection);
      if (reader == nullptr) return answer_control(steering);
      if (auto refused = check_reader(*reader, delivery.to)) return answer_control(steering, refused);
      if (final) return refuse_it("has ended already");
      if (to->connected()) return refuse_it("is for a session that is here and gets it itself");
      to->mailbox.drop(delivery.key);
      if (is_held(delivery.key, delivery.hold)) to->mailbox.release_one();
      const OutboundDelivery parcel{delivery, std::make_shared<const records::Message>(std::move(letter.message))};
      end_delivery(*to, parcel, DeliveryState::Delivered,
                   {.key = delivery.key,
                    .proof = records::Proof::Seen,
                    .reason = std::string{protocol::kReadInInbox},
                    .via = "inbox",
                    .evidence = "shown by the inbox command"});
      break;
    }
    default:
      if (const auto refused = concerns_other("redeliver messages of other agents"))
        return answer_control(steering, refused);
      if (is_kept_by_policy(steering, *to, delivery.from))
        if (const auto refused = check_control(steering, "redeliver what a policy holds or refuses", {}))
          return answer_control(steering, refused);
      if (!ended_undelivered(delivery.state)) return refuse_it("cannot be delivered anew");
      if (unseen_.has(DeliveryChange::Redelivered, delivery.key)) return refuse_it("is being delivered anew already");
      steering.count = 0;
      redeliver(steering, letter);
      if (steering.count == 0)
        return answer_control(steering, {{NackCode::Busy, format("{} messages wait for {} already; try again later",
                                                                 to->mailbox.pending, delivery.to.value())}});
  }
  answer_control_when_saved(std::move(steering));
}

/// A message that is delivered anew passes no policy; an agent must not get round what the user set that way.
bool Core::is_kept_by_policy(const ControlOperation& steering, const AgentState& to, const AgentName& from) {
  return steering.own && decide(to.record.policy, from.value()) != protocol::DeliveryPolicyAction::Accept;
}

void Core::redeliver(ControlOperation& steering, const records::DeadLetter& letter) {
  AgentState* to = find_agent(letter.delivery.to.value());
  if (to == nullptr || to->removing || to->mailbox.pending >= limits_.max_backlog) return;
  if (is_kept_by_policy(steering, *to, letter.delivery.from)) return;
  if (unseen_.has(DeliveryChange::Redelivered, letter.delivery.key)) return;
  unseen_.add(DeliveryChange::Redelivered, letter.delivery.key);
  records::Delivery fresh = letter.delivery;
  fresh.key = fresh.rank = next_key();
  fresh.seq = streams_.next(letter.message.topic, fresh.from, fresh.to, fresh.lane);
  fresh.state = DeliveryState::Queued;
  fresh.proof = records::Proof::Stored;
  fresh.hold = records::Hold::None;
  fresh.available_at = 0;
  fresh.attempts = 0;
  fresh.expires_at = now_.wall + limits_.default_ttl_ms;
  fresh.queued_offline = !to->connected();
  ++to->mailbox.pending;
  arm_expiry(fresh.expires_at);
  change(records::AddDelivery{fresh, {}, now_.wall});
  const records::ChangeDelivery old{
      .key = letter.delivery.key,
      .state = DeliveryState::Cancelled,
      .proof = letter.delivery.proof,
      .at = now_.wall,
      .reason = format("{}{} by {}", kRedeliveredAs, records::delivery_id(fresh.key), steering.by)};
  change(old);
  ++steering.count;
  if (steering.ids.size() < kMaxToldIds) steering.ids.push_back(records::delivery_id(fresh.key));
  when_committed(
      [this, fresh, old, message = std::make_shared<const records::Message>(letter.message)](CommitResult saving) {
        AgentState* recipient = find_agent(fresh.to.value());
        if (saving == CommitResult::Done)
          unseen_.stored(DeliveryChange::Redelivered, old.key);
        else
          unseen_.undo(DeliveryChange::Redelivered, old.key);
        if (recipient == nullptr) return;
        if (saving == CommitResult::Failed) return recipient->mailbox.settled_one();
        deliver_committed(*recipient, {fresh, message});
      });
}

void Core::dead(QueryId id, Result<std::vector<records::DeadLetter>> letters) {
  if (auto node = inquiries_.extract(id); !node.empty()) {
    on_lookup(node.mapped(), std::move(letters));
    return unseen_.end_read(node.mapped().look);
  }
  auto node = steerings_.extract(id);
  if (node.empty()) return list_dead(id, std::move(letters));
  const auto look = node.mapped().look;
  execute_control(std::move(node.mapped()), std::move(letters));
  unseen_.end_read(look);
}

void Core::execute_control(ControlOperation steering, Result<std::vector<records::DeadLetter>> letters) {
  if (!letters) return answer_control(steering, {{NackCode::Storage, letters.error().message()}});
  if (!steering.request.all) {
    if (letters->empty())
      return answer_control(steering,
                            {{NackCode::BadRequest, format("no delivery is called {}", steering.request.delivery_id)}});
    steering.count = 0;
    return execute_on_delivery(std::move(steering), std::move(letters->front()));
  }
  for (const auto& letter : *letters) {
    steering.cursor = letter.delivery.key;
    redeliver(steering, letter);
  }
  if (!letters->empty()) return ask_dead(std::move(steering));  // a page may be short because its letters are long
  answer_control_when_saved(std::move(steering));
}

}  // namespace relay::broker
