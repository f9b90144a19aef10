// The end of a session: BYE, a lost connection, or the record that its host left.
#include <algorithm>

#include "base/format.h"
#include "broker/sessions.h"

namespace relay::broker {

using protocol::ErrorCode;
using protocol::MessageType;

namespace {

constexpr std::string_view kLost = "the connection was lost and did not return";

/// The delay from a lost connection to the search for a record of the session's end. Connections of that host that are
/// not accepted yet come first: one of them may resume the session and send BYE.
constexpr Millis kRecordDelay{2'000};

SessionEnding ending_of(const protocol::Bye& bye) {
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

}  // namespace

void Sessions::on_bye(ConnectionState& connection, const protocol::Envelope& envelope) {
  const auto bye = protocol::parse_bye(envelope.payload);
  if (!bye) parts_.connections.send_error(connection, ErrorCode::BadRequest, bye.error().message());
  AgentState* agent = connection.phase == Phase::Active && !connection.query_only
                          ? parts_.agents.find(connection.agent->value())
                          : nullptr;
  parts_.connections.send_new(connection, MessageType::Bye, "{}");
  close(connection, "it sent BYE");
  if (agent != nullptr && !agent->connected()) end_session(*agent, ending_of(bye.value_or(protocol::Bye{})));
}

void Sessions::end_session(AgentState& agent, SessionEnding ending) {
  if (!agent.session || agent.session->ended != 0) return;
  if (auto release = parts_.listener.take_release(agent))
    ending = {.how = events::SessionEnd::Released,
              .by = std::move(release->by),
              .detail = std::move(release->reason),
              .at = ending.at};
  parts_.audiences.close_session(agent);
  parts_.prompts.end_all(agent);
  // A changed clock or a wrong report must not put the end before the start or into the future.
  records::Session& session = *agent.session.write();
  session.ended = ending.at == 0
                      ? parts_.context.wall()
                      : std::clamp(ending.at, std::min(session.started, parts_.context.wall()), parts_.context.wall());
  if (ending.at != 0) {
    parts_.agents.set_last_seen(agent, std::max(agent.record->last_seen, session.ended));
    agent.times.write().restored_at = 0;  // the time of its end is exact
  }
  if (!ending.lost) session.last_seen = session.ended;
  if (!ending.lost) parts_.agents.set_claim(agent, {});  // a session that sends BYE releases the name
  parts_.commits.save_eventually(records::PutSession{Audiences::session_row(agent)});
  parts_.commits.save_eventually(records::PutAgent{*agent.record});
  if (ending.how == events::SessionEnd::Released)
    record_release(parts_.event_recorder, agent.name(), agent.session->id, {ending.by, ending.detail});
  parts_.commits.save_eventually(end_event(agent, ending));
  parts_.commits.when_saved([this, session = agent.session->id] { parts_.context.emit(ForgetEndedSession{session}); });
}

records::AddEvent Sessions::end_event(const AgentState& agent, const SessionEnding& ending) const {
  const auto optional = [](const std::string& text) {
    return text.empty() ? std::optional<std::string>{} : std::optional{text};
  };
  return parts_.event_recorder.row(events::SessionEnded{.ended_at = agent.session->ended,
                                                        .reason = ending.how,
                                                        .detail = optional(ending.detail),
                                                        .released_by = optional(ending.by)},
                                   agent.name(), agent.session->id);
}

void Sessions::arm_grace(AgentState& agent, Millis grace) {
  const SteadyTime due = parts_.context.steady() + grace;
  const bool armed = agent.lease->grace_due.has_value();
  agent.lease->grace_due = due;
  const SteadyTime first = std::min(due, parts_.context.steady() + kRecordDelay);
  if (!armed) parts_.context.arm(first, {.kind = TimerKind::SessionGrace, .name = agent.name().value()});
}

/// The first call is early, to find a record that its host may have left. The timer of an earlier loss may also fire
/// during a later one. In both cases it is armed again for the rest of the grace.
void Sessions::on_grace_timer(AgentState& agent) {
  const auto due = std::exchange(agent.lease->grace_due, {});
  if (!due || agent.connected() || agent.removing || !agent.session || agent.session->ended != 0) return;
  if (*due > parts_.context.steady()) {
    agent.lease->grace_due = due;
    parts_.context.arm(*due, {.kind = TimerKind::SessionGrace, .name = agent.name().value()});
    return find_ended_sessions();
  }
  grace_over_.push_back(agent.name().value());
  find_ended_sessions();
}

void Sessions::find_ended_sessions() {
  if (!std::exchange(finding_ended_, true)) parts_.context.emit(FindEndedSessions{});
}

void Sessions::on_ended_sessions(const std::vector<protocol::EndedSession>& found) {
  finding_ended_ = false;
  for (const auto& ended : found) end_by_record(ended);
  for (const auto& name : std::exchange(grace_over_, {})) {
    AgentState* agent = parts_.agents.find(name);
    if (agent == nullptr || agent->connected() || agent->removing) continue;
    end_session(*agent, {.how = events::SessionEnd::Crashed, .detail = std::string{kLost}, .lost = true});
  }
  for (const ConnectionId id : std::exchange(awaiting_ended_, {})) {
    ConnectionState* waiting = parts_.connections.find(id);
    if (waiting == nullptr || waiting->phase != Phase::Opening) continue;
    parts_.connections.set_phase(*waiting, Phase::AwaitingHello);
    waiting->handshake->ended_read = true;
    handle_held(id);
  }
}

void Sessions::end_by_record(const protocol::EndedSession& ended) {
  AgentState* agent = parts_.agents.find(ended.agent);
  const bool open =
      agent != nullptr && agent->session && agent->session->ended == 0 && agent->session->id.value() == ended.session;
  if (!open)
    return parts_.commits.when_saved(
        [this, session = SessionId{ended.session}] { parts_.context.emit(ForgetEndedSession{session}); },
        records::CommitMode::Piggyback);
  if (agent->connected() || agent->removing) return;  // a connected session sends BYE itself
  parts_.agent_events.accept_unsent(*agent, ended.events);
  parts_.context.log(WriteLog::Level::Info, format("{} ended while it was not connected", agent->name().value()));
  end_session(*agent, ending_of(ended.bye));
  parts_.context.emit(RosterChanged{});
}

void Sessions::detach(ConnectionState& connection) {
  parts_.subscriptions.on_closed(connection);
  parts_.blocking.close_all_of(connection);
  parts_.receipts.forget(connection);
  AgentState* agent = connection.query_only || connection.agent->value().empty()
                          ? nullptr
                          : parts_.agents.find(connection.agent->value());
  if (agent == nullptr || std::erase(agent->connections.write(), *connection.id) == 0 || agent->connected()) return;
  parts_.settlement.cancel_requested(*agent);
  agent->mailbox.disconnect();
  parts_.late_receipts.on_disconnected(*agent);
  agent->times.write().lost_at = parts_.context.steady();
  agent->times.write().lost_pid = connection.peer->pid;
  parts_.agents.set_last_seen(*agent, parts_.context.wall());
  if (agent->session) agent->session.write()->last_seen = parts_.context.wall();
  arm_grace(*agent, Millis{parts_.context.limits().session_grace_ms});
  if (connection.phase == Phase::Active) {
    parts_.commits.save_eventually(records::PutAgent{*agent->record});
    parts_.event_recorder.record(events::AgentStatus{.state = "offline"}, *agent);
    parts_.channels.trigger_shadows(agent->name(), "SESSION_END");
    parts_.context.emit(RosterChanged{});
  }
  parts_.listener.on_disconnected(agent->name().value());
}

void record_release(EventRecorder& event_recorder, const AgentName& name, const SessionId& session,
                    const Release& release) {
  event_recorder.record(
      events::AgentReleased{.agent_name = name.value(), .released_by = release.by, .reason = release.reason}, name,
      session);
}

void send_pause_state(Connections& connections, const AgentState& agent) {
  for (const ConnectionId id : *agent.connections) {
    ConnectionState* connection = connections.find(id);
    if (connection != nullptr && connection->phase == Phase::Active && connection->capabilities->pause)
      connections.send_new(
          *connection, MessageType::Pause,
          protocol::write_pause({.paused = agent.record->paused, .reason = agent.record->pause_reason}));
  }
}

}  // namespace relay::broker
