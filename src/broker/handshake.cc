// HELLO: which connection may own a name, and the start of a session.
#include <algorithm>

#include "base/format.h"
#include "base/hash.h"
#include "broker/sessions.h"
#include "records/short_id.h"
#include "text/json_writer.h"

namespace relay::broker {

using protocol::ErrorCode;
using protocol::Fatal;
using protocol::MessageType;

namespace {

/// The name of the command line: many connections at once, in no list, without deliveries.
constexpr std::string_view kCommandLineName = "cli";

/// A name may change its owner this often within the window; then the newcomer is refused. Published 1.x clients answer
/// every eviction with a reconnect, so without this two of them would evict each other without end.
constexpr std::size_t kMaxTakeovers = 2;
constexpr Millis kTakeoverWindow{10'000};

constexpr std::string_view kReplaced = "another session started under its name";

constexpr std::size_t kTokenBytes = 24;
constexpr std::size_t kSessionIdBytes = 8;

}  // namespace

void Sessions::refuse_hello(ConnectionState& connection, ErrorCode code, const std::string& reason) {
  parts_.connections.send_error(connection, code, reason, Fatal::Yes);
  close(connection, reason);
}

void Sessions::on_hello(ConnectionState& connection, const protocol::Envelope& envelope, std::string_view frame) {
  if (connection.phase == Phase::Active)
    return parts_.connections.send_error(connection, ErrorCode::BadRequest,
                                         "HELLO was already sent on this connection");
  const auto hello = protocol::parse_hello(envelope.payload);
  if (!hello) return refuse_hello(connection, ErrorCode::BadRequest, hello.error().message());
  parts_.authority.check_system_token(connection, hello->system_token);
  if (hello->agent == kCommandLineName && hello->system_component) {
    if (connection.trusted) return open_query_connection(connection, *hello);
    return refuse_hello(connection, ErrorCode::Unauthorized,
                        "the name 'cli' is for agent-relay's own programs, which send the token of the daemon's home; "
                        "use the AGENT_RELAY_HOME of the daemon");
  }
  AgentState* agent = agent_for(connection, *hello);
  if (agent == nullptr) return;
  const bool resumes = !hello->resume_token.empty() && agent->session && agent->session->ended == 0 &&
                       equal_in_constant_time(sha256_hex(hello->resume_token), agent->session->token_hash);
  const bool lost = !agent->connected() && agent->session && agent->session->ended == 0;
  if (lost && !resumes && !connection.handshake->ended_read) {
    // The lost session is about to be replaced. Its host may have left a record of its end.
    parts_.connections.set_phase(connection, Phase::Opening);
    connection.handshake->held.emplace_front(frame);
    awaiting_ended_.push_back(connection.id);
    return find_ended_sessions();
  }
  const std::string claim_hash = hello->claim_token.empty() ? std::string{} : sha256_hex(hello->claim_token);
  const bool owner = !claim_hash.empty() && equal_in_constant_time(claim_hash, agent->record->claim_hash);
  if (parts_.agents.is_claimed(*agent) && !owner) {
    return refuse_hello(connection, ErrorCode::Unauthorized,
                        format("the name '{}' has another owner (NOT_OWNER); choose another name", hello->agent));
  }
  if (!take_name(connection, *agent, owner || resumes)) return;

  connection.agent.write() = agent->name();
  connection.capabilities.write() = hello->capabilities;
  parts_.agents.set_description(*agent, *hello);
  Authority::set_user_authority(*agent, connection, hello->agent);
  std::string earlier_claim = agent->record->claim_hash;
  if (!owner) parts_.agents.set_claim(*agent, claim_hash);  // a claim that has lapsed has no owner any more
  parts_.agents.set_last_seen(*agent, parts_.context.wall());
  parts_.deliveries.set_resume_positions(*agent, {});
  if (resumes) return resume_by_hello(connection, *agent, *hello);
  if (!hello->resume_token.empty())
    parts_.connections.send_error(connection, ErrorCode::ResumeTooOld,
                                  "this session cannot be resumed; a new one starts");
  AgentEvents::reset_activity(*agent);
  open_session(connection, *agent, *hello, std::move(earlier_claim));
}

/// The agent that the HELLO names, added if it is new; null when the HELLO was refused.
AgentState* Sessions::agent_for(ConnectionState& connection, const protocol::Hello& hello) {
  if (const auto refused = parts_.authority.check_hello_name(connection, hello)) {
    const bool reserved = refused->code == protocol::NackCode::BadRequest;
    refuse_hello(connection, reserved ? ErrorCode::BadRequest : ErrorCode::Unauthorized, refused->message);
    return nullptr;
  }
  AgentState* agent = parts_.agents.find(hello.agent);
  if ((agent == nullptr || !parts_.agents.in_audience(*agent)) && !sends_as_user(connection, hello.agent)) {
    if (const auto reason = parts_.agents.confusable_reason(hello.agent); !reason.empty()) {
      refuse_hello(connection, ErrorCode::BadRequest, reason);
      return nullptr;
    }
  }
  if (agent == nullptr) {
    if (!parts_.removal.has_room_for_name()) {
      refuse_hello(connection, ErrorCode::Busy,
                   format("the workspace already has {} agents, all used recently; try again later, or remove one with "
                          "REMOVE_AGENT",
                          parts_.agents.size()));
      return nullptr;
    }
    return &parts_.agents.add(hello.agent);
  }
  if (!agent->removing) return agent;
  const std::string reason = format("'{}' is being removed; try again in a moment", hello.agent);
  parts_.connections.send_error(connection, ErrorCode::Busy, reason, Fatal::No);
  close(connection, reason);
  return nullptr;
}

void Sessions::resume_by_hello(ConnectionState& connection, AgentState& agent, const protocol::Hello& hello) {
  mark_reconnected(agent);
  std::set<Key> unsettled;
  for (const auto& id : hello.unsettled)
    if (const auto key = records::key_of_delivery_id(id)) unsettled.insert(*key);
  parts_.agent_events.resume_activity(agent, hello.state);
  agent.lease->resume_token = hello.resume_token;
  agent.session.write()->capabilities = hello.capabilities;
  agent.connections.write().push_back(connection.id);
  parts_.event_recorder.record_activity(agent, agent.activity->state);
  welcome(connection, agent);
  activate(connection, agent, std::move(unsettled));
}

void Sessions::open_query_connection(ConnectionState& connection, const protocol::Hello& hello) {
  connection.agent.write() = AgentName{hello.agent};
  connection.query_only.write() = true;
  connection.capabilities.write() = hello.capabilities;
  connection.session.write() = SessionId{"s-" + parts_.context.random_hex(kSessionIdBytes)};
  parts_.connections.set_phase(connection, Phase::Active);
  parts_.connections.start_heartbeat(connection);
  parts_.connections.send_new(
      connection, MessageType::Welcome,
      protocol::write_welcome({connection.session->value(), "", parts_.context.limits().heartbeat_ms}));
}

bool Sessions::take_name(ConnectionState& newcomer, AgentState& agent, bool entitled) {
  if (!agent.connected() || agent.record->entity == protocol::EntityType::User) return true;
  if (!entitled) {
    auto& takeovers = agent.lease->takeovers;
    while (!takeovers.empty() && parts_.context.steady() - takeovers.front() > kTakeoverWindow) takeovers.pop_front();
    if (takeovers.size() >= kMaxTakeovers) {
      parts_.context.log(WriteLog::Level::Warn,
                         format("several programs use the name {}; the newest (pid {}) was refused",
                                agent.name().value(), newcomer.peer->pid));
      const auto reason =
          format("the name '{}' is in use by another connection; choose another name", agent.name().value());
      parts_.connections.send_error(newcomer, ErrorCode::DuplicateConnection, reason, Fatal::Yes);
      close(newcomer, reason);
      return false;
    }
    takeovers.push_back(parts_.context.steady());
    parts_.context.log(WriteLog::Level::Info, format("{} connected again (pid {}); the older connection is closed",
                                                     agent.name().value(), newcomer.peer->pid));
  }
  const std::vector<ConnectionId> evicted = agent.connections;
  for (const ConnectionId id : evicted) {
    ConnectionState* old = parts_.connections.find(id);
    if (old == nullptr) continue;
    parts_.connections.send_error(*old, ErrorCode::DuplicateConnection,
                                  format("another connection took the name '{}'", agent.name().value()), Fatal::Yes);
    close(*old, "another connection took its name");
  }
  return true;
}

void Sessions::open_session(ConnectionState& connection, AgentState& agent, const protocol::Hello& hello,
                            std::string earlier_claim) {
  if (agent.connected()) {
    // Another window of a user shares the open session. Until that is stored, the window is opened with the first one.
    agent.connections.write().push_back(connection.id);
    if (!agent.lease->session_saved) return open_when_saved(connection, agent, std::move(earlier_claim));
    welcome(connection, agent);
    activate(connection, agent);
    return;
  }
  if (agent.session && agent.session->ended == 0) {
    parts_.prompts.end_all(agent);
    agent.session.write()->ended = parts_.context.wall();
    parts_.commits.change(records::PutSession{Audiences::session_row(agent)});
    parts_.commits.change(end_event(agent, {.how = events::SessionEnd::Crashed, .detail = std::string{kReplaced}}));
  }
  agent.lease->resume_token = parts_.context.random_hex(kTokenBytes);
  agent.session.write() = records::Session{
      .id = SessionId{"s-" + parts_.context.random_hex(kSessionIdBytes)},
      .agent = agent.name(),
      .token_hash = sha256_hex(agent.lease->resume_token),
      .capabilities = hello.capabilities,
      .started = parts_.context.wall(),
      .last_seen = parts_.context.wall(),
      .ended = 0,
      .topics = {},
      .shadows = {},
  };
  parts_.audiences.open_session(agent);
  agent.lease->session_saved = false;
  agent.connections.write().push_back(connection.id);
  parts_.commits.change(records::PutAgent{*agent.record});
  parts_.commits.change(records::PutSession{Audiences::session_row(agent)});
  record_session_start(agent, hello);
  parts_.listener.on_session_opening(agent);
  // Saved with each session: a membership whose commit failed would be missing after a restart.
  parts_.audiences.join(std::string{protocol::kGeneralChannel}, agent.name());
  parts_.commits.change(records::JoinChannel{{std::string{protocol::kGeneralChannel}, agent.name()}});
  open_when_saved(connection, agent, std::move(earlier_claim));
}

void Sessions::open_when_saved(ConnectionState& connection, AgentState& agent, std::string earlier_claim) {
  parts_.connections.set_phase(connection, Phase::Opening);
  parts_.connections.pause(connection, Pause::Opening);
  parts_.commits.when_committed([this, id = connection.id, name = agent.name(), claim = std::move(earlier_claim)](
                                    CommitResult result) { on_open_saved(id, name, claim, result); });
}

void Sessions::on_open_saved(ConnectionId id, const AgentName& name, const std::string& earlier_claim,
                             CommitResult result) {
  AgentState* agent = parts_.agents.find(name.value());
  if (agent == nullptr) return;
  ConnectionState* opening = parts_.connections.find(id);
  if (opening != nullptr && opening->phase != Phase::Opening) opening = nullptr;  // it left meanwhile
  if (result == CommitResult::Done) {
    parts_.agents.mark_saved(*agent);
    agent->lease->session_saved = true;
    if (opening == nullptr) return;
    welcome(*opening, *agent);
    return activate(*opening, *agent);
  }
  if (opening != nullptr) {
    constexpr std::string_view kReason = "the session could not be stored (STORAGE); try again in a moment";
    parts_.connections.send_error(*opening, ErrorCode::Internal, kReason, Fatal::No);
    close(*opening, "the session could not be stored");
  }
  if (agent->connected()) return;
  agent->session.write().reset();
  parts_.agents.set_claim(*agent, earlier_claim);
  if (agent->saved) return;
  parts_.audiences.leave(std::string{protocol::kGeneralChannel}, name);
  parts_.agents.erase(name.value());
}

/// Stored together with the session, or not at all.
void Sessions::record_session_start(const AgentState& agent, const protocol::Hello& hello) {
  const auto optional = [](const std::string& text) {
    return text.empty() ? std::optional<std::string>{} : std::optional{text};
  };
  const records::Agent& record = agent.record;
  parts_.commits.change(parts_.event_recorder.row(
      events::SessionStarted{.agent = {.name = agent.name().value(),
                                       .cli = record.cli,
                                       .model = optional(record.model),
                                       .version = optional(hello.version)},
                             .started_at = agent.session->started,
                             .config = {.permission_mode = optional(hello.permission_mode),
                                        .working_directory = optional(record.working_directory)}},
      agent.name(), agent.session->id));
}

void Sessions::welcome(ConnectionState& connection, const AgentState& agent) {
  // Published clients store no positions and get a WELCOME without the store's id.
  const std::string_view store_id =
      connection.capabilities->send_ack ? std::string_view{store_id_} : std::string_view{};
  parts_.connections.send_new(connection, MessageType::Welcome,
                              protocol::write_welcome({agent.session->id.value(), agent.lease->resume_token,
                                                       parts_.context.limits().heartbeat_ms, store_id}));
}

void Sessions::activate(ConnectionState& connection, AgentState& agent, std::set<Key> unsettled) {
  parts_.connections.set_phase(connection, Phase::Active);
  connection.session.write() = agent.session->id;
  parts_.connections.start_heartbeat(connection);
  agent.times.write().connected_at = parts_.context.steady();
  if (!agent.mailbox.connected()) {
    agent.mailbox.connect(connection.capabilities->max_inflight, unsettled);
    parts_.late_receipts.check_unsettled(agent, std::move(unsettled));
    parts_.unsupported.scan(agent);
  }
  parts_.context.log(WriteLog::Level::Info,
                     format("{} connected (pid {})", agent.name().value(), connection.peer->pid));
  if (agent.record->paused) send_pause_state(parts_.connections, agent);
  parts_.deliveries.deliver_pending(agent);
  announce(agent);
  parts_.context.emit(RosterChanged{});
  parts_.connections.resume(connection, Pause::Opening);
  handle_held(connection.id);
}

/// The frames that arrived while the connection was opened. One of them may close the connection or open a session.
void Sessions::handle_held(ConnectionId id) {
  for (ConnectionState* open = parts_.connections.find(id);
       open != nullptr && open->phase != Phase::Opening && !open->handshake->held.empty();
       open = parts_.connections.find(id)) {
    const std::string frame = std::move(open->handshake->held.front());
    open->handshake->held.pop_front();
    parts_.frames.handle_frame(*open, frame);
  }
}

void Sessions::announce(const AgentState& agent) {
  if (protocol::is_internal_name(agent.name().value())) return;
  text::JsonWriter payload;
  payload.field("name", agent.name().value());
  payload.optional("cli", agent.record->cli);
  payload.optional("task", agent.record->task);
  payload.field("connectedAt", parts_.context.wall());
  const std::string text = payload.take();
  for (auto& [id, other] : parts_.connections.all()) {
    // Clients of this project subscribe to events instead; published ones expect AGENT_READY.
    if (other.phase != Phase::Active || other.agent == agent.name() || other.capabilities->send_ack) continue;
    parts_.connections.send_new(other, MessageType::AgentReady, text);
  }
}

}  // namespace relay::broker
