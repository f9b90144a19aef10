#include "broker/core.h"

#include <algorithm>

#include "base/format.h"
#include "protocol/description_limits.h"
#include "text/json_errors.h"
#include "text/utf8.h"

namespace relay::broker {

using protocol::ErrorCode;
using protocol::Fatal;
using protocol::MessageType;

namespace {

/// Heartbeats of many connections are asked together: a due time is rounded up to this part of the interval, so that a
/// thousand idle agents cost ten wake-ups per interval and not a thousand.
constexpr int kHeartbeatSlots = 10;

/// After a start of the daemon every session has this time to return, however short the grace is: the longest pause of a
/// client between two attempts to connect is 34.5 s.
constexpr Millis kRestartGrace{45'000};

constexpr std::size_t kKeptEffects = 1'024;  // room for them that is used again

SteadyTime rounded_up(SteadyTime when, Millis slot) {
  if (slot.count() <= 0) return when;
  const auto step = std::chrono::nanoseconds{slot};
  const auto past = when.time_since_epoch() % step;
  return past.count() == 0 ? when : when + (step - past);
}

/// What its session told of itself last.
std::string capabilities_of(const AgentState& agent) {
  if (!agent.activity.capabilities.empty() || !agent.session) return agent.activity.capabilities;
  return agent.session->capabilities.contract;
}

/// Rows of an earlier version may hold longer descriptions than are taken now.
records::Agent bounded(records::Agent agent) {
  const auto cut = [](std::string& text, std::size_t most) {
    if (text.size() > most) text = std::string{text::truncate_utf8(text, most)};
  };
  for (auto* label : {&agent.cli, &agent.program, &agent.model, &agent.team, &agent.display_name})
    cut(*label, protocol::kMaxLabelBytes);
  cut(agent.task, protocol::kMaxTaskBytes);
  if (agent.avatar_url.size() > protocol::kMaxAvatarBytes) agent.avatar_url.clear();
  return agent;
}

}  // namespace

Core::Core(const BrokerLimits& limits, ServerInfo info, records::WorkspaceState snapshot, Random& random, Timestamp now)
    : limits_{limits},
      info_{std::move(info)},
      random_{random},
      now_{now},
      started_{now.steady},
      store_id_{snapshot.store_id},
      newest_{snapshot.newest},
      newest_event_{snapshot.newest_event},
      streams_{limits.max_topic_streams},
      policy_{std::make_shared<const permissions::Policy>()} {
  for (auto& record : snapshot.agents) {
    AgentState& agent = add_agent(record.name.value());
    agent.record = bounded(std::move(record));
    agent.saved = true;
    count_description(agent);
  }
  for (const auto& counts : snapshot.counts) {
    AgentState* agent = find_agent(counts.agent.value());
    if (agent == nullptr) continue;
    agent->sent = counts.sent;
    agent->received = counts.received;
  }
  for (auto& session : snapshot.sessions) {
    AgentState* agent = find_agent(session.agent.value());
    // The newest session counts; an older one that was never ended has been superseded.
    if (agent == nullptr || (agent->session && agent->session->started > session.started)) continue;
    if (agent->session) unindex_session(*agent);
    agent->session = std::move(session);
    agent->session_saved = true;
    agent->lost_at = now.steady;  // its grace begins anew: it was we who were away
    const bool was_connected = agent->record.last_seen <= agent->session->last_seen;  // see `Core::mark_reconnected`
    if (was_connected) agent->restored_at = now.wall;
    index_session(*agent);
    arm_grace(*agent, std::max(Millis{limits_.session_grace_ms}, kRestartGrace));
  }
  for (const auto& mark : snapshot.stream_marks) streams_.restore_mark(mark);
  for (auto& stream : snapshot.streams) streams_.restore(std::move(stream));
  for (auto& membership : snapshot.memberships) join_channel(membership.channel, membership.member);
  for (auto& mark : snapshot.marks) {
    if (AgentState* agent = find_agent(mark.sender.value())) agent->outboxes.restore(std::move(mark));
  }
  for (const auto& recent : snapshot.recent_ids) {
    if (AgentState* agent = find_agent(recent.from.value())) agent->recent.add(recent.id, recent.message);
  }
  for (const auto& backlog : snapshot.backlogs) {
    AgentState* agent = find_agent(backlog.to.value());
    if (agent == nullptr) continue;
    agent->mailbox.pending += backlog.pending;
    agent->mailbox.held += backlog.held;
    if (backlog.pending > backlog.held) agent->mailbox.expect(backlog.lane, backlog.from);
  }
  for (const auto& recent : snapshot.recent_keys) {
    if (AgentState* agent = find_agent(recent.from.value())) agent->recent_keys.add(recent.idempotency_key);
  }
  for (auto& proposal : snapshot.proposals) {
    const auto left = std::max<WallMs>(0, proposal.expires_at - now.wall);
    timers_.arm(now.steady + Millis{left}, {.kind = TimerKind::Proposal, .name = proposal.id});
    auto id = proposal.id;
    proposals_.emplace(std::move(id), std::move(proposal));
  }
  changes_.clear();  // restoring is no change
  find_ended_sessions();
  if (snapshot.next_expiry != 0) arm_expiry(snapshot.next_expiry);
  if (snapshot.next_due != 0) arm_due(snapshot.next_due);
}

// ---------------------------------------------------------------- connections

ConnectionState* Core::find(ConnectionId id) {
  const auto place = connections_.find(id.value());
  return place == connections_.end() ? nullptr : &place->second;
}

AgentState* Core::find_agent(std::string_view name) {
  const auto place = agents_.find(name);
  return place == agents_.end() ? nullptr : &place->second;
}

void Core::connect(ConnectionId id, PeerProcess peer) {
  ConnectionState& connection = connections_[id.value()];
  connection.id = id;
  connection.peer = peer;
  if (shutting_down_) {
    close(connection, "the daemon is stopping");
    return;
  }
  timers_.arm(now_.steady + Millis{limits_.handshake_ms}, {.kind = TimerKind::Handshake, .connection = id.value()});
}

void Core::frame(ConnectionId id, std::string_view frame) {
  ConnectionState* connection = find(id);
  if (connection == nullptr || connection->phase == Phase::Closing) return;
  connection->heartbeat.on_activity(now_.steady);
  if (connection->phase == Phase::Opening || !connection->held.empty()) {
    connection->held.emplace_back(frame);  // frames of one connection are handled strictly in order
    return;
  }
  handle(*connection, frame);
}

void Core::handle(ConnectionState& connection, std::string_view frame) {
  const auto envelope = protocol::parse_envelope(frame);
  if (envelope) {
    const std::size_t before = saved_bytes_;
    answering_ = envelope->id;
    dispatch(connection, *envelope, frame);
    answering_ = {};
    // Frames that are no SEND can make us remember much, too (a long list of topics, saved anew for each of them).
    const std::size_t remembered = saved_bytes_ - before;
    if (remembered == 0 || connection.phase == Phase::Closing) return;
    charge(connection, remembered, limits_.max_remembered_bytes);
    const bool waits = paused_uncommitted_.contains(connection.id);
    if (!waits && charge_with_last_save(connection.id, remembered)) return;
    when_saved([this, id = connection.id, remembered] { release_uncommitted(find(id), remembered); },
               waits ? records::CommitMode::Immediate : records::CommitMode::Piggyback);
    return;
  }
  refuse_frame(connection, frame, envelope.error());
}

void Core::refuse_frame(ConnectionState& connection, std::string_view frame, const Error& problem) {
  const bool flawed = is(problem, protocol::Errc::MissingField) || is(problem, protocol::Errc::BadField);
  if (!flawed && !is(problem, text::JsonErrc::NotAnObject) && !is(problem, protocol::Errc::UnknownType)) {
    error(connection, ErrorCode::BadRequest, problem.message(), Fatal::Yes);
    return close(connection, problem.message());
  }
  // A message that can be named is refused by its id, and its outbox number counts: the next one must not wait for it.
  const auto head = protocol::parse_head(frame);
  const bool message = head && (head->type == MessageType::Send || head->type == MessageType::ChannelMessage);
  if (!flawed || !message || connection.phase != Phase::Active || !connection.wants_answers())
    return error(connection, ErrorCode::BadRequest, problem.message());
  AgentState* sender = connection.query_only ? nullptr : find_agent(connection.agent.value());
  SendContext sending{connection, *head, sender, connection.agent, frame.size(), {}, {}, {}};
  if (!already_answered(sending)) refuse(sending, protocol::NackCode::BadRequest, problem.message());
}

void Core::bad_stream(ConnectionId id, std::string_view reason) {
  ConnectionState* connection = find(id);
  if (connection == nullptr || connection->phase == Phase::Closing) return;
  error(*connection, ErrorCode::BadRequest, reason, Fatal::Yes);
  close(*connection, std::string{reason});
}

void Core::dispatch(ConnectionState& connection, const protocol::Envelope& envelope, std::string_view frame) {
  const MessageType type = envelope.type;
  if (type == MessageType::Hello) return on_hello(connection, envelope, frame);
  if (connection.phase == Phase::AwaitingHello || connection.phase == Phase::OneShot) {
    if (type == MessageType::Resume) return on_resume(connection, envelope);
    if (type == MessageType::Bye) return on_bye(connection, envelope);
    if (type == MessageType::Pong) return;
    if (type == MessageType::Send) {
      if (admit_one_shot(connection, envelope)) on_send(connection, envelope, frame.size());
      return;
    }
    error(connection, ErrorCode::BadRequest, format("{} before HELLO: say HELLO first", name_of(type)));
    return;
  }
  switch (type) {
    case MessageType::Send: return on_send(connection, envelope, frame.size());
    case MessageType::Ack: return on_ack(connection, envelope);
    case MessageType::Nack: return on_nack(connection, envelope);
    case MessageType::Receipt: return on_receipt(connection, envelope);
    case MessageType::Pong: return;
    case MessageType::Bye: return on_bye(connection, envelope);
    case MessageType::Subscribe: return on_subscribe(connection, envelope, true);
    case MessageType::Unsubscribe: return on_subscribe(connection, envelope, false);
    case MessageType::ChannelJoin: return on_channel_change(connection, envelope, true);
    case MessageType::ChannelLeave: return on_channel_change(connection, envelope, false);
    case MessageType::ChannelMessage: return on_channel_message(connection, envelope, frame.size());
    case MessageType::ShadowBind: return on_shadow_bind(connection, envelope);
    case MessageType::ShadowUnbind: return on_shadow_unbind(connection, envelope);
    case MessageType::Log: return on_log(connection, envelope);
    case MessageType::SessionState: return on_session_state(connection, envelope);
    case MessageType::Status: return on_status(connection, envelope);
    case MessageType::Inbox: return on_inbox(connection, envelope);
    case MessageType::MessagesQuery: return on_messages_query(connection, envelope);
    case MessageType::ListAgents: return on_list_agents(connection, envelope, false);
    case MessageType::ListConnectedAgents: return on_list_agents(connection, envelope, true);
    case MessageType::RemoveAgent: return on_remove_agent(connection, envelope);
    case MessageType::Health: return on_health(connection, envelope);
    case MessageType::Metrics: return on_metrics(connection, envelope);
    case MessageType::Trace: return on_trace(connection, envelope);
    case MessageType::EventsSubscribe: return on_events_subscribe(connection, envelope);
    case MessageType::EventsQuery: return on_events_query(connection, envelope);
    case MessageType::UsageQuery: return on_usage_query(connection, envelope);
    case MessageType::SessionQuery: return on_session_query(connection, envelope);
    case MessageType::AgentEvent: return on_agent_event(connection, envelope);
    case MessageType::EventsUnsubscribe: return on_events_unsubscribe(connection);
    case MessageType::Control: return on_control(connection, envelope);
    case MessageType::Dead: return on_dead(connection, envelope);
    case MessageType::Loops: return on_loops(connection, envelope);
    case MessageType::Channels: return on_channels(connection, envelope);
    case MessageType::Topics: return on_topics(connection, envelope);
    case MessageType::Prompts: return on_prompts(connection, envelope);
    case MessageType::Answer: return on_answer(connection, envelope);
    case MessageType::Spawn: return on_spawn(connection, envelope);
    case MessageType::Release: return on_release(connection, envelope);
    case MessageType::SendInput: return on_send_input(connection, envelope);
    case MessageType::SetModel: return on_set_model(connection, envelope);
    case MessageType::ListWorkers: return on_list_workers(connection, envelope);
    case MessageType::Resume:
      error(connection, ErrorCode::BadRequest, "RESUME after the handshake: open a new connection to resume");
      return;
    case MessageType::Hello:
      return;  // handled above
    // Known to the wire, without a meaning here: answered, so that nobody waits in vain.
    case MessageType::State:
    case MessageType::SyncSnapshot:
    case MessageType::SyncDelta:
    case MessageType::ChannelInfo:
    case MessageType::ChannelMembers:
    case MessageType::ChannelTyping:
    case MessageType::ProposalCreate:
    case MessageType::Vote:
    case MessageType::WorkspaceOpen:
    case MessageType::WorkspaceClose:
    case MessageType::WorkspaceList:
    case MessageType::Shutdown:
    case MessageType::Welcome:
    case MessageType::Deliver:
    case MessageType::Ping:
    case MessageType::Error:
    case MessageType::Busy:
    case MessageType::Sync:
    case MessageType::SpawnResult:
    case MessageType::ReleaseResult:
    case MessageType::SendInputResult:
    case MessageType::SetModelResult:
    case MessageType::ListWorkersResult:
    case MessageType::AgentReady:
    case MessageType::StatusResponse:
    case MessageType::InboxResponse:
    case MessageType::MessagesResponse:
    case MessageType::ListAgentsResponse:
    case MessageType::ListConnectedAgentsResponse:
    case MessageType::RemoveAgentResponse:
    case MessageType::HealthResponse:
    case MessageType::MetricsResponse:
    case MessageType::EventsResponse:
    case MessageType::UsageResponse:
    case MessageType::SessionResponse:
    case MessageType::TraceResponse:
    case MessageType::WorkspaceResponse:
    case MessageType::ControlResult:
    case MessageType::Pause:
    case MessageType::Cancel:
    case MessageType::DeadResponse:
    case MessageType::LoopsResponse:
    case MessageType::ChannelsResponse:
    case MessageType::TopicsResponse:
    case MessageType::PromptsResponse:
    case MessageType::AnswerResult:
      error(connection, ErrorCode::BadRequest, format("{} is not for a workspace to answer", name_of(type)));
      return;
  }
}

void Core::send(ConnectionState& connection, std::string frame) {
  if (frame.size() > protocol::kMaxFrameBytes) {
    // Every maker of frames has a bound of its own; should one be wrong, a question stays unanswered and nothing breaks.
    note(WriteLog::Level::Warn,
         format("a frame of {} bytes for {} does not fit and was not sent", frame.size(), connection.agent.value()));
    error(connection, ErrorCode::Internal, "an answer was too large to send; ask for less");
    return;
  }
  connection.waiting_bytes += frame.size();
  connection.heartbeat.said(now_.steady);
  emit(Send{connection.id, std::move(frame)});
}

void Core::send(ConnectionState& connection, const protocol::OutEnvelope& envelope) {
  send(connection, protocol::write_envelope(envelope));
}

void Core::send_new(ConnectionState& connection, MessageType type, std::string_view payload, std::string_view from,
                    std::string_view to) {
  const std::string id = fresh_id();
  send(connection, {.type = type, .id = id, .ts = now_.wall, .from = from, .to = to, .payload = payload});
}

void Core::error(ConnectionState& connection, ErrorCode code, std::string_view message, Fatal fatal) {
  const auto payload = protocol::write_error(code, message, fatal);
  if (connection.query_only && !answering_.empty())  // many questions may be open: which of them was wrong?
    return respond(connection, MessageType::Error, answering_, payload);
  send_new(connection, MessageType::Error, payload);
}

void Core::close(ConnectionState& connection, std::string reason) {
  if (connection.phase == Phase::Closing) return;
  detach(connection);
  connection.phase = Phase::Closing;
  connection.held.clear();
  emit(Close{connection.id, After::Flush, std::move(reason)});
}

void Core::written(ConnectionId id, std::size_t left) {
  ConnectionState* connection = find(id);
  if (connection == nullptr || connection->phase == Phase::Closing) return;
  connection->waiting_bytes = left;
  // Room in a socket's buffer proves nothing; that a full one has room again means somebody reads at the other end.
  if (connection->stuck) connection->heartbeat.on_activity(now_.steady);
  connection->stuck = left > 0;
  if (connection->phase != Phase::Active) return;
  if (AgentState* agent = connection->query_only ? nullptr : find_agent(connection->agent.value())) {
    if (left == 0) {
      for (const InFlight& item : agent->mailbox.finish_written())
        complete(*agent, item, {.key = item.parcel.delivery.key, .proof = records::Proof::Written});
    }
    deliver_pending(*agent);
  }
  if (connection->watch) send_next_page(*connection);
}

void Core::disconnect(ConnectionId id, std::string_view reason) {
  ConnectionState* connection = find(id);
  if (connection == nullptr) return;
  if (connection->phase != Phase::Closing) {
    if (connection->phase == Phase::Active && !connection->query_only) {
      note(WriteLog::Level::Info, format("{} left: {}", connection->agent.value(), reason));
    }
    detach(*connection);
  }
  drop_pending_spawns(id);
  paused_uncommitted_.erase(id);
  connections_.erase(id.value());
}

void Core::pause(ConnectionState& connection, Pause reason) {
  const auto bit = static_cast<std::uint8_t>(reason);
  if (connection.pauses == 0) emit(PauseReading{connection.id});
  connection.pauses |= bit;
}

void Core::resume(ConnectionState& connection, Pause reason) {
  const auto bit = static_cast<std::uint8_t>(reason);
  if ((connection.pauses & bit) == 0) return;
  connection.pauses = static_cast<std::uint8_t>(connection.pauses & ~bit);
  if (connection.pauses != 0) return;
  connection.heartbeat.on_activity(now_.steady);  // while we did not listen it could not be heard
  emit(ResumeReading{connection.id});
}

// ---------------------------------------------------------------- time

void Core::tick() {
  if (expiry_due_ && *expiry_due_ <= now_.steady) expire_due();
  while (auto due = timers_.pop_due(now_.steady)) run_timer(due->first, due->second);
}

std::optional<SteadyTime> Core::next_tick() const {
  const auto next = timers_.next();
  if (!next || !expiry_due_) return next ? next : expiry_due_;
  return std::min(*next, *expiry_due_);
}

void Core::run_timer(SteadyTime due, const TimerEntry& entry) {
  ConnectionState* connection = entry.connection == 0 ? nullptr : find(ConnectionId{entry.connection});
  AgentState* agent = entry.name.empty() ? nullptr : find_agent(entry.name);
  switch (entry.kind) {
    case TimerKind::Handshake:
      if (connection != nullptr && connection->phase == Phase::AwaitingHello) {
        error(*connection, ErrorCode::Timeout,
              format("no HELLO within {} ms; connect again and say HELLO", limits_.handshake_ms), Fatal::Yes);
        close(*connection, "no HELLO");
      }
      return;
    case TimerKind::Heartbeat:
      if (connection != nullptr && connection->phase == Phase::Active) poll_heartbeat(*connection, due);
      return;
    case TimerKind::RatePause:
      if (connection != nullptr) resume(*connection, Pause::Rate);
      return;
    case TimerKind::Resend:
      if (agent != nullptr) resend_due(*agent, due);
      return;
    case TimerKind::ReloadRetry:
      if (agent != nullptr) {
        look_up_unsettled(*agent);
        deliver_pending(*agent);
      }
      return;
    case TimerKind::SyncTimeout:
      if (const auto place = syncs_.find(entry.name); place != syncs_.end() && place->second.due <= now_.steady) {
        if (ConnectionState* asker = find(place->second.asker); asker != nullptr && asker->speaks()) {
          error(*asker, ErrorCode::Internal, format("nobody answered the blocking message {} in time", entry.name));
        }
        end_sync(place);
      }
      return;
    case TimerKind::Requests:
      if (agent != nullptr) requests_due(*agent, due);
      return;
    case TimerKind::Due: return look_for_due();
    case TimerKind::Proposal: return proposal_due(entry.name);
    case TimerKind::WatchRetry:
      if (connection == nullptr) return;
      connection->events_page.reset();
      connection->page_is_old = false;
      if (connection->watch) send_next_page(*connection);
      return;
    case TimerKind::SaveRetry: return try_store_again();
    case TimerKind::Leaving: return notify_released(entry.name, now_.steady);
    case TimerKind::SessionGrace:
      if (agent != nullptr) end_lost_session(*agent);
      return;
  }
}

void Core::poll_heartbeat(ConnectionState& connection, SteadyTime due) {
  const Millis interval{limits_.heartbeat_ms};
  // Called late by more than an interval, it was we who slept: everyone gets a fresh start.
  if (now_.steady - due > interval || connection.pauses != 0) connection.heartbeat.on_activity(now_.steady);
  if (connection.stuck) connection.heartbeat.said(now_.steady);  // there is something left for it to read
  switch (connection.heartbeat.poll(now_.steady)) {
    case Heartbeat::Action::Fine: break;
    case Heartbeat::Action::SendPing:
      send_new(connection, MessageType::Ping, format(R"({{"nonce":"{}"}})", random_.hex(8)));
      break;
    case Heartbeat::Action::PeerIsGone:
      note(WriteLog::Level::Info,
           format("{} is silent for {} ms and is let go", connection.agent.value(), 2 * limits_.heartbeat_ms));
      error(connection, ErrorCode::Timeout, "no sign of life; connect again", Fatal::No);
      close(connection, "no sign of life");
      return;
  }
  timers_.arm(rounded_up(connection.heartbeat.next(), interval / kHeartbeatSlots),
              {.kind = TimerKind::Heartbeat, .connection = connection.id.value()});
}

void Core::shut_down(std::string_view reason) {
  shutting_down_ = true;
  try_store_again();
  when_committed([this, reason = std::string{reason}](CommitResult) { send_bye_to_all(reason); });
}

void Core::send_bye_to_all(const std::string& reason) {
  text::JsonWriter payload;  // without `end`: no session ends by it
  payload.field("reason", reason);
  const auto bye = payload.take();
  std::vector<ConnectionId> open;
  for (auto& [id, connection] : connections_) open.push_back(connection.id);
  std::ranges::sort(open);
  for (const ConnectionId id : open) {
    ConnectionState& connection = *find(id);
    if (connection.phase == Phase::Closing) continue;
    send_new(connection, MessageType::Bye, bye);
    close(connection, reason);
  }
}

Effects Core::take_effects(Broker::Batching gathering) {
  resume_released();
  if (std::exchange(counts_changed_, false)) emit(RosterChanged{RosterChange::Counts});
  if (gathering == Broker::Batching::Close) flush_changes();
  if (store_ == StoreHealth::Failing) fail_gathered();
  return std::exchange(effects_, {});
}

void Core::give_back(Effects effects) {
  effects.clear();
  if (effects_.empty() && effects.capacity() <= kKeptEffects) effects_.swap(effects);
}

std::vector<RosterEntry> Core::roster() const {
  std::vector<RosterEntry> entries;
  entries.reserve(agents_.size());
  for (const auto& [name, agent] : agents_) {
    const bool here = agent.connected();
    entries.push_back({agent.record, here, agent.sent, agent.received, agent.mailbox.pending,
                       here ? agent.activity.state : "", here ? agent.activity.reason : "",
                       here ? capabilities_of(agent) : "", agent.mailbox.held,
                       here && agent.session ? agent.session->id.value() : "", here ? 0 : agent.offline_since()});
  }
  std::ranges::sort(entries, {}, [](const RosterEntry& entry) -> const AgentName& { return entry.agent.name; });
  return entries;
}

}  // namespace relay::broker
