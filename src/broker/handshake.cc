// HELLO and RESUME: who may have a name, how a session begins, comes back and ends.
#include <algorithm>

#include "base/format.h"
#include "base/hash.h"
#include "broker/core.h"
#include "records/short_id.h"
#include "text/json_writer.h"

namespace relay::broker {

using protocol::ErrorCode;
using protocol::Fatal;
using protocol::MessageType;

namespace {

/// The command line's own name: many at once, kept out of every list, never written to.
constexpr std::string_view kCommandLineName = "cli";

/// A name may change hands this often within the window; then the newcomer is refused. Published 1.x clients answer
/// every eviction with a reconnect, so without this two of them would throw each other out without end.
constexpr std::size_t kMaxTakeovers = 2;
constexpr Millis kTakeoverWindow{10'000};

/// Numbers and keys of one stream in a SYNC, beside its names.
constexpr std::size_t kSyncStreamBytes = 128;

constexpr std::string_view kReplaced = "another session began under its name";
constexpr std::string_view kLost = "the connection was lost and did not return";

/// After a loss, until the record of the session's end is looked for. Connections of that host which still wait to be
/// accepted come first: one of them may resume the session and say BYE itself.
constexpr Millis kRecordDelay{2'000};

constexpr std::size_t kTokenBytes = 24;
constexpr std::size_t kSessionIdBytes = 8;

}  // namespace

AgentState& Core::add_agent(const std::string& name) {
  auto [place, added] = agents_.try_emplace(name);
  if (added) {
    place->second.record.name = AgentName{name};
    place->second.record.first_seen = now_.wall;
    place->second.bucket = TokenBucket{limits_.rate_per_second, limits_.rate_burst};
    confusable_names_.add(name);
  }
  return place->second;
}

void Core::erase_agent(const std::string& name) {
  confusable_names_.remove(name);
  if (const AgentState* agent = find_agent(name)) description_bytes_ -= agent->described_bytes;
  agents_.erase(name);
}

std::string Core::confusable_reason(std::string_view name) {
  const auto reason = [&](std::string_view other) {
    return format("the name '{}' looks like '{}'; choose one that people can tell apart", name, other);
  };
  if (const auto reserved = protocol::reserved_look_alike(name); !reserved.empty()) return reason(reserved);
  const auto in_use = [&](const std::string& other) {
    const AgentState* agent = find_agent(other);
    return agent != nullptr && (agent->connected() || in_audience(*agent));
  };
  const auto other = confusable_names_.find(name, in_use);
  return other.empty() ? std::string{} : reason(other);
}

bool Core::is_claimed(const AgentState& agent) const {
  if (agent.record.claim_hash.empty()) return false;
  // A session that ended on purpose gave its claim back; one that was lost keeps it.
  return agent.connected() || now_.wall - agent.record.last_seen < limits_.claim_lease_ms;
}

bool Core::in_audience(const AgentState& agent) const {
  if (agent.removing || agent.observed()) return false;
  if (agent.connected()) return true;
  return agent.session && agent.session->ended == 0 && now_.steady - agent.lost_at < Millis{limits_.session_grace_ms};
}

void Core::on_hello(ConnectionState& connection, const protocol::Envelope& envelope, std::string_view frame) {
  if (connection.phase == Phase::Active) {
    error(connection, ErrorCode::BadRequest, "HELLO was said already on this connection");
    return;
  }
  const auto refuse_hello = [&](ErrorCode code, std::string_view reason) {
    error(connection, code, reason, Fatal::Yes);
    close(connection, std::string{reason});
  };
  const auto hello = protocol::parse_hello(envelope.payload);
  if (!hello) return refuse_hello(ErrorCode::BadRequest, hello.error().message());
  check_system_token(connection, hello->system_token);
  if (hello->agent == kCommandLineName && hello->system_component) {
    if (connection.trusted) return open_query_connection(connection, *hello);
    return refuse_hello(ErrorCode::Unauthorized,
                        "the name 'cli' is for agent-relay's own programs, which show the token of the daemon's home; "
                        "use the AGENT_RELAY_HOME of the daemon");
  }
  if (const auto refused = check_hello_name(connection, *hello)) {
    const bool reserved = refused->refusal == protocol::NackCode::BadRequest;
    return refuse_hello(reserved ? ErrorCode::BadRequest : ErrorCode::Unauthorized, refused->sentence);
  }

  AgentState* agent = find_agent(hello->agent);
  if ((agent == nullptr || !in_audience(*agent)) && !speaks_as_user(connection, hello->agent)) {
    if (const auto reason = confusable_reason(hello->agent); !reason.empty())
      return refuse_hello(ErrorCode::BadRequest, reason);
  }
  if (agent == nullptr) {
    if (!has_room_for_name()) {
      return refuse_hello(
          ErrorCode::Busy,
          format(
              "{} agents are known already, none of them long unused; try again later, or remove one with REMOVE_AGENT",
              agents_.size()));
    }
    agent = &add_agent(hello->agent);
  }
  if (agent->removing) {
    const std::string reason = format("'{}' is being removed; try again in a moment", hello->agent);
    error(connection, ErrorCode::Busy, reason, Fatal::No);
    return close(connection, reason);
  }
  const bool resumes = !hello->resume_token.empty() && agent->session && agent->session->ended == 0 &&
                       equal_in_constant_time(sha256_hex(hello->resume_token), agent->session->token_hash);
  const bool lost = !agent->connected() && agent->session && agent->session->ended == 0;
  if (lost && !resumes && !connection.ended_known) {
    // The lost session is about to be replaced. Its host may have left a record of how it ended.
    connection.phase = Phase::Opening;
    connection.held.emplace_front(frame);
    awaiting_ended_.push_back(connection.id);
    return find_ended_sessions();
  }
  const std::string claim_hash = hello->claim_token.empty() ? std::string{} : sha256_hex(hello->claim_token);
  const bool owner = !claim_hash.empty() && equal_in_constant_time(claim_hash, agent->record.claim_hash);
  if (is_claimed(*agent) && !owner) {
    return refuse_hello(ErrorCode::Unauthorized,
                        format("the name '{}' belongs to somebody else (NOT_OWNER); choose another", hello->agent));
  }
  if (!take_name(connection, *agent, owner || resumes)) return;

  connection.agent = agent->name();
  connection.capabilities = hello->capabilities;
  update_record(*agent, *hello);
  agent->has_user_authority = speaks_as_user(connection, hello->agent);
  std::string earlier_claim = agent->record.claim_hash;
  if (!owner) agent->record.claim_hash = claim_hash;  // a claim that has lapsed is no longer anybody's
  agent->record.last_seen = now_.wall;
  agent->resume_positions.clear();
  agent->unsettled.clear();
  if (resumes) {
    mark_reconnected(*agent);
    for (const auto& id : hello->unsettled)
      if (const auto key = records::key_of_delivery_id(id)) agent->unsettled.insert(*key);
    if (!hello->state.empty()) agent->activity.state = hello->state;
    agent->activity.reason.clear();  // of another moment; its session tells the present one
    agent->resume_token = hello->resume_token;
    agent->session->capabilities = hello->capabilities;
    agent->connections.push_back(connection.id);
    record_event(activity_event(agent->activity), *agent);
    welcome(connection, *agent);
    activate(connection, *agent);
    return;
  }
  if (!hello->resume_token.empty()) {
    error(connection, ErrorCode::ResumeTooOld, "this session cannot be resumed; a new one begins");
  }
  agent->activity = {};  // what its last session told of itself
  agent->boundaries.clear();
  open_session(connection, *agent, *hello, std::move(earlier_claim));
}

void Core::open_query_connection(ConnectionState& connection, const protocol::Hello& hello) {
  connection.agent = AgentName{hello.agent};
  connection.query_only = true;
  connection.capabilities = hello.capabilities;
  connection.session = SessionId{"s-" + random_.hex(kSessionIdBytes)};
  connection.phase = Phase::Active;
  connection.heartbeat = Heartbeat{Millis{limits_.heartbeat_ms}, now_.steady};
  timers_.arm(connection.heartbeat.next(), {.kind = TimerKind::Heartbeat, .connection = connection.id.value()});
  send_new(connection, MessageType::Welcome,
           protocol::write_welcome({connection.session.value(), "", limits_.heartbeat_ms}));
}

bool Core::take_name(ConnectionState& newcomer, AgentState& agent, bool entitled) {
  if (!agent.connected() || agent.record.entity == protocol::EntityType::User) return true;
  if (!entitled) {
    while (!agent.takeovers.empty() && now_.steady - agent.takeovers.front() > kTakeoverWindow)
      agent.takeovers.pop_front();
    if (agent.takeovers.size() >= kMaxTakeovers) {
      note(WriteLog::Level::Warn, format("several programs want the name {}; the newcomer (pid {}) was refused",
                                         agent.name().value(), newcomer.peer.pid));
      const auto reason =
          format("the name '{}' is in use by another connection; choose another name", agent.name().value());
      error(newcomer, ErrorCode::DuplicateConnection, reason, Fatal::Yes);
      close(newcomer, reason);
      return false;
    }
    agent.takeovers.push_back(now_.steady);
    note(WriteLog::Level::Info, format("{} connected again (pid {}); the older connection is closed",
                                       agent.name().value(), newcomer.peer.pid));
  }
  const auto evicted = agent.connections;
  for (const ConnectionId id : evicted) {
    ConnectionState* old = find(id);
    if (old == nullptr) continue;
    error(*old, ErrorCode::DuplicateConnection, format("another connection took the name '{}'", agent.name().value()),
          Fatal::Yes);
    close(*old, "another connection took its name");
  }
  return true;
}

void Core::update_record(AgentState& agent, const protocol::Hello& hello) {
  records::Agent& record = agent.record;
  record.entity = hello.entity;
  const auto take = [](std::string& mine, const std::string& said) {
    if (!said.empty()) mine = said;
  };
  take(record.cli, hello.cli);
  take(record.program, hello.program);
  take(record.model, hello.model);
  take(record.task, hello.task);
  take(record.working_directory, hello.working_directory);
  take(record.team, hello.team);
  take(record.display_name, hello.display_name);
  take(record.avatar_url, hello.avatar_url);
  count_description(agent);
}

void Core::open_session(ConnectionState& connection, AgentState& agent, const protocol::Hello& hello,
                        std::string earlier_claim) {
  if (agent.connected()) {
    // Another window of a user: it shares the session that is open, or waits with the first for it to be stored.
    agent.connections.push_back(connection.id);
    if (!agent.session_saved) return open_when_saved(connection, agent, std::move(earlier_claim));
    welcome(connection, agent);
    activate(connection, agent);
    return;
  }
  if (agent.session) {
    unindex_session(agent);
    if (agent.session->ended == 0) {
      end_requests(agent);
      agent.session->ended = now_.wall;
      change(records::PutSession{*agent.session});
      change(session_end(agent, {.how = events::SessionEnd::Crashed, .detail = std::string{kReplaced}}));
    }
  }
  agent.resume_token = random_.hex(kTokenBytes);
  agent.session = records::Session{
      .id = SessionId{"s-" + random_.hex(kSessionIdBytes)},
      .agent = agent.name(),
      .token_hash = sha256_hex(agent.resume_token),
      .capabilities = hello.capabilities,
      .started = now_.wall,
      .last_seen = now_.wall,
      .ended = 0,
      .topics = {},
      .shadows = {},
  };
  agent.session_saved = false;
  agent.connections.push_back(connection.id);
  change(records::PutAgent{agent.record});
  change(records::PutSession{*agent.session});
  record_session_start(agent, hello);
  record_if_spawned(agent);
  // Asked for every time: a membership whose commit failed would otherwise be missing after a restart.
  join_channel(std::string{protocol::kGeneralChannel}, agent.name());
  change(records::JoinChannel{{std::string{protocol::kGeneralChannel}, agent.name()}});
  open_when_saved(connection, agent, std::move(earlier_claim));
}

void Core::open_when_saved(ConnectionState& connection, AgentState& agent, std::string earlier_claim) {
  connection.phase = Phase::Opening;
  pause(connection, Pause::Opening);
  when_committed(
      [this, id = connection.id, name = agent.name(), claim = std::move(earlier_claim)](CommitResult saving) {
        AgentState* opened = find_agent(name.value());
        if (opened == nullptr) return;
        ConnectionState* waiting = find(id);
        if (waiting != nullptr && waiting->phase != Phase::Opening) waiting = nullptr;  // it left meanwhile
        if (saving == CommitResult::Done) {
          opened->saved = opened->session_saved = true;
          if (waiting == nullptr) return;
          welcome(*waiting, *opened);
          activate(*waiting, *opened);
          return;
        }
        if (waiting != nullptr) {
          constexpr std::string_view kReason = "the session could not be stored (STORAGE); try again in a moment";
          error(*waiting, ErrorCode::Internal, kReason, Fatal::No);
          close(*waiting, "the session could not be stored");
        }
        if (opened->connected()) return;
        opened->session.reset();
        opened->record.claim_hash = claim;
        if (opened->saved) return;
        leave_channel(std::string{protocol::kGeneralChannel}, name);
        erase_agent(name.value());
      });
}

void Core::welcome(ConnectionState& connection, const AgentState& agent) {
  // Published clients keep no positions; they hear exactly the WELCOME they know.
  const std::string_view store_id = connection.capabilities.send_ack ? std::string_view{store_id_} : std::string_view{};
  send_new(connection, MessageType::Welcome,
           protocol::write_welcome({agent.session->id.value(), agent.resume_token, limits_.heartbeat_ms, store_id}));
}

void Core::activate(ConnectionState& connection, AgentState& agent) {
  connection.phase = Phase::Active;
  connection.session = agent.session->id;
  connection.heartbeat = Heartbeat{Millis{limits_.heartbeat_ms}, now_.steady};
  timers_.arm(connection.heartbeat.next(), {.kind = TimerKind::Heartbeat, .connection = connection.id.value()});
  agent.connected_at = now_.steady;
  if (!agent.mailbox.connected()) {
    agent.unchecked = agent.unsettled;
    agent.mailbox.connect(connection.capabilities.max_inflight, std::exchange(agent.unsettled, {}));
    look_up_unsettled(agent);
    scan_unsupported(agent);
  }
  note(WriteLog::Level::Info, format("{} is here (pid {})", agent.name().value(), connection.peer.pid));
  if (agent.record.paused) notify_paused(agent);
  deliver_pending(agent);
  announce(agent);
  emit(RosterChanged{});
  resume(connection, Pause::Opening);
  handle_held(connection.id);
}

/// One of them may close the connection, or begin to open it.
void Core::handle_held(ConnectionId id) {
  for (ConnectionState* open = find(id); open != nullptr && open->phase != Phase::Opening && !open->held.empty();
       open = find(id)) {
    const std::string frame = std::move(open->held.front());
    open->held.pop_front();
    handle(*open, frame);
  }
}

void Core::announce(const AgentState& agent) {
  if (protocol::is_internal_name(agent.name().value())) return;
  text::JsonWriter payload;
  payload.field("name", agent.name().value());
  payload.optional("cli", agent.record.cli);
  payload.optional("task", agent.record.task);
  payload.field("connectedAt", now_.wall);
  const std::string text = payload.take();
  for (auto& [id, other] : connections_) {
    // Clients of this project subscribe to events instead; published ones expect to be told.
    if (other.phase != Phase::Active || other.agent == agent.name() || other.capabilities.send_ack) continue;
    send_new(other, MessageType::AgentReady, text);
  }
}

/// While a session is connected, the store has equal times of its agent and of it: a later daemon can tell by them.
void Core::mark_reconnected(AgentState& agent) {
  agent.record.last_seen = agent.session->last_seen = now_.wall;
  save_eventually(records::PutAgent{agent.record});
  save_session(agent);
}

void Core::on_resume(ConnectionState& connection, const protocol::Envelope& envelope) {
  const auto wanted = protocol::parse_resume(envelope.payload);
  if (!wanted) {
    error(connection, ErrorCode::BadRequest, wanted.error().message());
    return;
  }
  const auto stale = [&](std::string_view why) {
    send_new(connection, MessageType::Nack, protocol::write_nack(envelope.id, protocol::NackCode::Stale, why));
  };
  AgentState* agent = find_agent(wanted->agent);
  if (agent == nullptr || agent->removing || !agent->session || agent->session->ended != 0 ||
      !equal_in_constant_time(agent->session->id.value(), wanted->session_id)) {
    return stale("this session is not known any more; say HELLO");
  }
  // A session's id is listed for everyone to read; only its token proves whose it is.
  if (wanted->resume_token.empty()) return stale("a session is resumed with its resume_token; say HELLO");
  if (!equal_in_constant_time(sha256_hex(wanted->resume_token), agent->session->token_hash)) {
    return stale("the resume token does not fit; say HELLO");
  }
  const auto streams = streams_.towards(agent->name());
  const auto fits = [](const protocol::StreamPosition& position, const records::Stream& stream) {
    const bool topic_fits =
        position.topic == stream.topic.value() || (stream.topic.value().empty() && position.topic == "default");
    return topic_fits && position.lane == stream.lane &&
           (position.peer.empty() || position.peer == stream.from.value());
  };
  // Numbers count per sender: without a peer a position says something only where the topic has a single sender.
  std::vector<const protocol::StreamPosition*> positions(streams.size());
  for (const auto& position : wanted->streams) {
    std::vector<std::size_t> meant;
    for (std::size_t i = 0; i < streams.size(); ++i)
      if (fits(position, streams[i])) meant.push_back(i);
    if (meant.empty() && position.last_seq > 0)
      return stale(
          format("the position {} in the topic '{}' is ahead of what was sent there, which is nothing; say HELLO",
                 position.last_seq, position.topic));
    if (position.peer.empty() && meant.size() > 1) continue;
    for (const auto i : meant)
      if (positions[i] == nullptr) positions[i] = &position;
  }
  // A position behind what was acknowledged asks for what is no longer kept; one beyond the newest is from elsewhere.
  for (std::size_t i = 0; i < streams.size(); ++i) {
    const auto& stream = streams[i];
    const auto* position = positions[i];
    if (position == nullptr) continue;
    if (position->last_seq < stream.acked.value())
      return stale(
          format("the position {} in the stream from {} is behind what is kept, which begins after {}; say HELLO",
                 position->last_seq, stream.from.value(), stream.acked.value()));
    if (position->last_seq > stream.last.value())
      return stale(format("the position {} in the stream from {} is ahead of its newest number {}; say HELLO",
                          position->last_seq, stream.from.value(), stream.last.value()));
  }
  if (!take_name(connection, *agent, true)) return;
  connection.agent = agent->name();
  connection.capabilities = agent->session->capabilities;
  agent->resume_token = wanted->resume_token;
  mark_reconnected(*agent);
  // Positions hold for what exists now; a stream that begins later begins at 1 whatever was said here.
  agent->resume_positions.clear();
  for (std::size_t i = 0; i < streams.size(); ++i) {
    if (positions[i] == nullptr) continue;
    agent->resume_positions.push_back(
        {streams[i].topic.value(), streams[i].from.value(), positions[i]->last_seq, streams[i].lane});
  }
  agent->connections.push_back(connection.id);
  std::vector<protocol::SyncStream> sync;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    const auto& stream = streams[i];
    bytes += 2 * (stream.topic.value().size() + stream.from.value().size()) + kSyncStreamBytes;
    if (bytes > protocol::kMaxResponseBytes) break;  // told or not, every stream is replayed
    sync.push_back({stream.topic.value(), stream.from.value(),
                    positions[i] == nullptr ? stream.acked.value() : positions[i]->last_seq, stream.last.value(),
                    stream.lane});
  }
  send_new(connection, MessageType::Sync, protocol::write_sync(agent->session->id.value(), sync));
  record_event(activity_event(agent->activity), *agent);
  activate(connection, *agent);
}

void Core::on_bye(ConnectionState& connection, const protocol::Envelope& envelope) {
  const auto bye = protocol::parse_bye(envelope.payload);
  if (!bye) error(connection, ErrorCode::BadRequest, bye.error().message());
  AgentState* agent =
      connection.phase == Phase::Active && !connection.query_only ? find_agent(connection.agent.value()) : nullptr;
  send_new(connection, MessageType::Bye, "{}");
  close(connection, "it said BYE");
  if (agent != nullptr && !agent->connected()) end_session(*agent, ending_of(bye.value_or(protocol::Bye{})));
}

Core::Ending Core::ending_of(const protocol::Bye& bye) {
  switch (bye.end) {
    case protocol::EndReason::Completed:
      return {.how = events::SessionEnd::Completed, .detail = bye.reason, .at = bye.ended_at};
    case protocol::EndReason::Crashed:
      return {.how = events::SessionEnd::Crashed, .detail = bye.reason, .at = bye.ended_at};
    case protocol::EndReason::Released:
      return {.how = events::SessionEnd::Released,
              .by = bye.by.empty() ? std::string{protocol::kUserName} : bye.by,
              .detail = bye.reason,
              .at = bye.ended_at};
  }
  return {};
}

void Core::end_session(AgentState& agent, Ending ending) {
  if (!agent.session || agent.session->ended != 0) return;
  if (auto release = std::exchange(agent.releasing, {}))
    ending = {.how = events::SessionEnd::Released,
              .by = std::move(release->by),
              .detail = std::move(release->reason),
              .at = ending.at};
  unindex_session(agent);
  end_requests(agent);
  // A clock that was set, or a false word, must not put the end before the start or into the future.
  agent.session->ended =
      ending.at == 0 ? now_.wall : std::clamp(ending.at, std::min(agent.session->started, now_.wall), now_.wall);
  if (ending.at != 0) {
    agent.record.last_seen = std::max(agent.record.last_seen, agent.session->ended);
    agent.restored_at = 0;  // its end is known after all
  }
  if (!ending.lost) agent.session->last_seen = agent.session->ended;
  if (!ending.lost) agent.record.claim_hash.clear();  // a session that says goodbye gives the name back
  save_eventually(records::PutSession{*agent.session});
  save_eventually(records::PutAgent{agent.record});
  if (ending.how == events::SessionEnd::Released)
    record_release(agent.name(), agent.session->id, {ending.by, ending.detail});
  save_eventually(session_end(agent, ending));
  when_saved([this, session = agent.session->id] { emit(ForgetEndedSession{session}); });
}

void Core::arm_grace(AgentState& agent, Millis grace) {
  const SteadyTime due = now_.steady + grace;
  const bool armed = agent.grace_due.has_value();
  agent.grace_due = due;
  const SteadyTime first = std::min(due, now_.steady + kRecordDelay);
  if (!armed) timers_.arm(first, {.kind = TimerKind::SessionGrace, .name = agent.name().value()});
}

/// The first call is early, for the record that its host may have left. The timer of an earlier loss may fire during a later
/// one. Both times it is armed again for the rest of the grace.
void Core::end_lost_session(AgentState& agent) {
  const auto due = std::exchange(agent.grace_due, {});
  if (!due || agent.connected() || agent.removing || !agent.session || agent.session->ended != 0) return;
  if (*due > now_.steady) {
    agent.grace_due = due;
    timers_.arm(*due, {.kind = TimerKind::SessionGrace, .name = agent.name().value()});
    return find_ended_sessions();
  }
  grace_over_.push_back(agent.name().value());
  find_ended_sessions();
}

void Core::find_ended_sessions() {
  if (!std::exchange(finding_ended_, true)) emit(FindEndedSessions{});
}

void Core::ended_sessions(const std::vector<protocol::EndedSession>& found) {
  finding_ended_ = false;
  for (const auto& ended : found) end_by_record(ended);
  for (const auto& name : std::exchange(grace_over_, {})) {
    AgentState* agent = find_agent(name);
    if (agent == nullptr || agent->connected() || agent->removing) continue;
    end_session(*agent, {.how = events::SessionEnd::Crashed, .detail = std::string{kLost}, .lost = true});
  }
  for (const ConnectionId id : std::exchange(awaiting_ended_, {})) {
    ConnectionState* waiting = find(id);
    if (waiting == nullptr || waiting->phase != Phase::Opening) continue;
    waiting->phase = Phase::AwaitingHello;
    waiting->ended_known = true;
    handle_held(id);
  }
}

void Core::end_by_record(const protocol::EndedSession& ended) {
  AgentState* agent = find_agent(ended.agent);
  const bool open =
      agent != nullptr && agent->session && agent->session->ended == 0 && agent->session->id.value() == ended.session;
  if (!open)
    return when_saved([this, session = SessionId{ended.session}] { emit(ForgetEndedSession{session}); },
                      records::CommitMode::Piggyback);
  if (agent->connected() || agent->removing) return;  // a connected session says BYE itself
  take_untold_events(*agent, ended.events);
  note(WriteLog::Level::Info, format("{} ended while it was not connected", agent->name().value()));
  end_session(*agent, ending_of(ended.bye));
  emit(RosterChanged{});
}

void Core::detach(ConnectionState& connection) {
  watchers_.erase(connection.id);
  end_requests_of(connection);
  if (connection.watched_messages > 0)
    std::erase_if(receipts_, [&](const auto& entry) { return entry.second.connection == connection.id; });
  AgentState* agent =
      connection.query_only || connection.agent.value().empty() ? nullptr : find_agent(connection.agent.value());
  if (agent == nullptr || std::erase(agent->connections, connection.id) == 0 || agent->connected()) return;
  // Whoever was to give something back and left without a word is told when it is here again, and may know better.
  for (const auto& [key, asked] : std::exchange(agent->asked_back, {})) {
    const auto item = agent->mailbox.finish(key);
    if (!item) agent->mailbox.drop(key);
    if (!unseen_.has(DeliveryChange::Finished, key))
      end_delivery(*agent, item ? item->parcel : asked.parcel, records::DeliveryState::Cancelled,
                   {.key = key, .reason = asked.reason});
  }
  agent->mailbox.disconnect();
  agent->unchecked.clear();
  agent->lost_at = now_.steady;
  agent->lost_pid = connection.peer.pid;
  agent->record.last_seen = now_.wall;
  if (agent->session) agent->session->last_seen = now_.wall;
  arm_grace(*agent, Millis{limits_.session_grace_ms});
  if (connection.phase == Phase::Active) {
    save_eventually(records::PutAgent{agent->record});
    record_event(events::AgentStatus{.state = "offline"}, *agent);
    trigger_shadows(agent->name(), "SESSION_END");
    emit(RosterChanged{});
  }
  notify_released(agent->name().value(), SteadyTime::max());
}

}  // namespace relay::broker
