#include "broker/broker_parts.h"

#include "base/format.h"
#include "broker/frame_table.h"
#include "text/json_errors.h"

namespace relay::broker {

using protocol::ErrorCode;
using protocol::Fatal;
using protocol::MessageType;

BrokerParts::BrokerParts(const BrokerLimits& limits, ServerInfo info, records::WorkspaceState state, Random& random,
                         Timestamp now)
    : context{limits, random, now, state.newest},
      connections{context},
      agents{context},
      audiences{agents},
      streams{limits.max_topic_streams},
      due_timer{context},
      budget{context, connections},
      commits{context, streams, budget, completion},
      event_recorder{context, commits},
      requests{context, connections, commits},
      queries{context, connections, requests},
      hosts{context},
      sender_receipts{connections},
      blocking{context, connections, agents},
      history{context, commits, blocking},
      settlement{context, commits, agents, streams, changes_during_read, history, due_timer},
      deliveries{context, commits, connections, agents, changes_during_read, settlement, history},
      late_receipts{context, commits, agents, queries, changes_during_read, settlement, deliveries, history},
      receipts{connections, agents, blocking, settlement, deliveries, late_receipts},
      unsupported{commits, agents, queries, changes_during_read, history},
      held{context, commits, agents, streams, queries, changes_during_read, due_timer, deliveries, unsupported},
      expiry{context, commits, agents, changes_during_read, settlement, deliveries, sender_receipts},
      authority{info.system_token, agents},
      removal{context, commits, connections, agents, audiences, event_recorder, sender_receipts, loops, due_timer},
      one_shot{context, commits, agents, authority, removal},
      replies{context, commits, connections, agents},
      publisher{context, commits, agents, audiences, streams, expiry},
      completion{context,    connections, agents, changes_during_read, replies, sender_receipts, blocking,
                 settlement, deliveries,  held,   unsupported},
      router{context, commits,   budget,   connections, agents,   audiences, event_recorder,
             loops,   authority, one_shot, replies,     blocking, publisher},
      channels{context, commits, connections, agents, audiences, removal, one_shot, replies, publisher, router},
      voting{context, commits, agents, event_recorder, replies, publisher},
      subscriptions{context, connections, requests, queries, state.newest_event},
      prompts{context, commits, connections, agents, event_recorder, requests, hosts, spawns},
      agent_events{context,        commits, budget,     connections, agents,
                   event_recorder, replies, deliveries, unsupported, prompts},
      sessions{{.context = context,
                .commits = commits,
                .connections = connections,
                .agents = agents,
                .audiences = audiences,
                .streams = streams,
                .event_recorder = event_recorder,
                .authority = authority,
                .removal = removal,
                .blocking = blocking,
                .receipts = sender_receipts,
                .settlement = settlement,
                .deliveries = deliveries,
                .late_receipts = late_receipts,
                .unsupported = unsupported,
                .subscriptions = subscriptions,
                .channels = channels,
                .prompts = prompts,
                .listener = workers,
                .agent_events = agent_events,
                .frames = *this},
               state.store_id},
      workers{context,  commits, budget,  connections, agents,    event_recorder, authority,
              requests, hosts,   removal, one_shot,    publisher, prompts,        sessions},
      spawns{context, connections, agents, event_recorder, prompts, workers},
      control{context, commits,    connections, agents, streams, changes_during_read, requests, queries, hosts,
              loops,   settlement, deliveries,  expiry, held},
      message_queries{connections, agents, requests, queries},
      event_queries{context, connections, agents, requests, queries, subscriptions},
      workspace_queries{context,  commits, connections, agents,         event_recorder,
                        requests, queries, loops,       std::move(info)} {
  router.add_internal_recipient(protocol::kConsensus, voting);
  router.add_internal_recipient(protocol::kRouter, channels);
  for (NameHolder* holder : std::initializer_list<NameHolder*>{&late_receipts, &replies, &voting, &prompts, &workers})
    removal.add_holder(*holder);

  agents.restore(state);
  sessions.restore(state);
  for (const auto& mark : state.stream_marks) streams.restore_mark(mark);
  for (auto& stream : state.streams) streams.restore(std::move(stream));
  for (const auto& membership : state.memberships) audiences.join(membership.channel, membership.member);
  replies.restore(state);
  voting.restore(state);
  commits.discard();
  if (state.next_expiry != 0) expiry.arm(state.next_expiry);
  if (state.next_due != 0) due_timer.arm(state.next_due);
}

void BrokerParts::handle_frame(ConnectionState& connection, std::string_view frame) {
  const auto envelope = protocol::parse_envelope(frame);
  if (!envelope) return refuse_frame(connection, frame, envelope.error());
  const std::size_t before = commits.retried_bytes();
  connections.set_handled_frame(envelope->id);
  dispatch(connection, *envelope, frame);
  connections.set_handled_frame({});
  // Other frames than SEND can also cause large writes (a long list of topics, saved again for each of them).
  const std::size_t retried = commits.retried_bytes() - before;
  if (retried == 0 || connection.phase == Phase::Closing) return;
  budget.charge(connection, retried, context.limits().max_retried_bytes);
  const bool is_paused = budget.is_paused(connection.id);
  if (!is_paused && commits.charge_with_last_save(connection.id, retried)) return;
  commits.when_saved([this, id = *connection.id, retried] { budget.release(id, retried); },
                     is_paused ? records::CommitMode::Immediate : records::CommitMode::Piggyback);
}

void BrokerParts::dispatch(ConnectionState& connection, const protocol::Envelope& envelope, std::string_view frame) {
  const MessageType type = envelope.type;
  if (type == MessageType::Hello) return sessions.on_hello(connection, envelope, frame);
  if (connection.phase == Phase::AwaitingHello || connection.phase == Phase::OneShot) {
    if (type == MessageType::Send) return router.on_one_shot_send(connection, envelope, frame.size());
    if (type == MessageType::Resume) return sessions.on_resume(connection, envelope);
    if (type == MessageType::Bye) return sessions.on_bye(connection, envelope);
    if (type == MessageType::Pong) return;
    return connections.send_error(connection, ErrorCode::BadRequest,
                                  format("{} before HELLO: send HELLO first", name_of(type)));
  }
  if (type == MessageType::Pong) return;
  if (type == MessageType::Resume)
    return connections.send_error(connection, ErrorCode::BadRequest,
                                  "RESUME after the handshake: open a new connection to resume");
  if (const FrameCall call = frame_call(type)) return call(*this, connection, envelope, frame.size());
  connections.send_error(connection, ErrorCode::BadRequest, format("a workspace does not handle {}", name_of(type)));
}

void BrokerParts::refuse_frame(ConnectionState& connection, std::string_view frame, const Error& error) {
  const bool invalid = is(error, protocol::Errc::MissingField) || is(error, protocol::Errc::BadField);
  if (!invalid && !is(error, text::JsonErrc::NotAnObject) && !is(error, protocol::Errc::UnknownType)) {
    connections.send_error(connection, ErrorCode::BadRequest, error.message(), Fatal::Yes);
    return sessions.close(connection, error.message());
  }
  // A message with a readable id is refused by that id, and its outbox number counts, so that the next one is accepted.
  const auto head = protocol::parse_head(frame);
  const bool message = head && (head->type == MessageType::Send || head->type == MessageType::ChannelMessage);
  if (!invalid || !message || connection.phase != Phase::Active || !connection.wants_answers())
    return connections.send_error(connection, ErrorCode::BadRequest, error.message());
  router.refuse_invalid(connection, *head, frame.size(), error.message());
}

void BrokerParts::on_timer(SteadyTime due, const TimerEntry& entry) {
  ConnectionState* connection = entry.connection == 0 ? nullptr : connections.find(ConnectionId{entry.connection});
  AgentState* agent = entry.name.empty() ? nullptr : agents.find(entry.name);
  switch (entry.kind) {
    case TimerKind::Handshake:
      if (connection != nullptr) sessions.on_handshake_timeout(*connection);
      return;
    case TimerKind::Heartbeat:
      if (connection != nullptr) sessions.poll_heartbeat(*connection, due);
      return;
    case TimerKind::RatePause:
      if (connection != nullptr) connections.resume(*connection, Pause::Rate);
      return;
    case TimerKind::Resend:
      if (agent != nullptr) deliveries.resend_due(*agent, due);
      return;
    case TimerKind::ReloadRetry:
      if (agent == nullptr) return;
      late_receipts.look_up(*agent);
      return deliveries.deliver_pending(*agent);
    case TimerKind::SyncTimeout: return blocking.on_timeout(entry.name);
    case TimerKind::Prompts:
      if (agent != nullptr) prompts.on_due(*agent, due);
      return;
    case TimerKind::Due: return held.on_due();
    case TimerKind::Proposal: return voting.on_due(entry.name);
    case TimerKind::SubscriptionRetry:
      if (connection != nullptr) subscriptions.on_retry(*connection);
      return;
    case TimerKind::SaveRetry: return commits.probe_store();
    case TimerKind::Release: return workers.on_release_due(entry.name);
    case TimerKind::SessionGrace:
      if (agent != nullptr) sessions.on_grace_timer(*agent);
      return;
  }
}

}  // namespace relay::broker
