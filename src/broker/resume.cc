// RESUME: a session continues on a new connection.
#include <algorithm>

#include "base/format.h"
#include "base/hash.h"
#include "broker/sessions.h"

namespace relay::broker {

using protocol::ErrorCode;
using protocol::MessageType;

namespace {

/// The numbers and member names of one stream in a SYNC, without its own names.
constexpr std::size_t kSyncStreamBytes = 128;

}  // namespace

/// While a session is connected, the stored times of the session and its agent are equal; a later daemon recognizes it
/// by that.
void Sessions::mark_reconnected(AgentState& agent) {
  parts_.agents.set_last_seen(agent, parts_.context.wall());
  agent.session.write()->last_seen = parts_.context.wall();
  parts_.commits.save_eventually(records::PutAgent{*agent.record});
  parts_.commits.save_eventually(records::PutSession{Audiences::session_row(agent)});
}

void Sessions::on_resume(ConnectionState& connection, const protocol::Envelope& envelope) {
  const auto wanted = protocol::parse_resume(envelope.payload);
  if (!wanted) {
    parts_.connections.send_error(connection, ErrorCode::BadRequest, wanted.error().message());
    return;
  }
  const auto stale = [&](std::string_view reason) {
    parts_.connections.send_new(connection, MessageType::Nack,
                                protocol::write_nack(envelope.id, protocol::NackCode::Stale, reason));
  };
  AgentState* agent = parts_.agents.find(wanted->agent);
  if (agent == nullptr || agent->removing || !agent->session || agent->session->ended != 0 ||
      !equal_in_constant_time(agent->session->id.value(), wanted->session_id)) {
    return stale("this session does not exist any more; send HELLO");
  }
  // A session's id is public; only its token proves ownership.
  if (wanted->resume_token.empty()) return stale("a session is resumed with its resume_token; send HELLO");
  if (!equal_in_constant_time(sha256_hex(wanted->resume_token), agent->session->token_hash)) {
    return stale("the resume token does not match; send HELLO");
  }
  const auto streams = parts_.streams.towards(agent->name());
  const auto fits = [](const protocol::StreamPosition& position, const records::Stream& stream) {
    const bool topic_fits =
        position.topic == stream.topic.value() || (stream.topic.value().empty() && position.topic == "default");
    return topic_fits && position.lane == stream.lane &&
           (position.peer.empty() || position.peer == stream.from.value());
  };
  // Numbers count per sender: a position without a peer is meaningful only if the topic has a single sender.
  std::vector<const protocol::StreamPosition*> positions(streams.size());
  for (const auto& position : wanted->streams) {
    std::vector<std::size_t> matching;
    for (std::size_t i = 0; i < streams.size(); ++i)
      if (fits(position, streams[i])) matching.push_back(i);
    if (matching.empty() && position.last_seq > 0)
      return stale(format("nothing was sent in the topic '{}', so the position {} is invalid; send HELLO",
                          position.topic, position.last_seq));
    if (position.peer.empty() && matching.size() > 1) continue;
    for (const auto i : matching)
      if (positions[i] == nullptr) positions[i] = &position;
  }
  // Deliveries up to the last acknowledged one may be pruned; a position after the newest is from another store.
  for (std::size_t i = 0; i < streams.size(); ++i) {
    const auto& stream = streams[i];
    const auto* position = positions[i];
    if (position == nullptr) continue;
    if (position->last_seq < stream.acked.value())
      return stale(format("the stream from {} no longer has the position {}: it starts after {}; send HELLO",
                          stream.from.value(), position->last_seq, stream.acked.value()));
    if (position->last_seq > stream.last.value())
      return stale(format("the position {} is after the newest number {} of the stream from {}; send HELLO",
                          position->last_seq, stream.last.value(), stream.from.value()));
  }
  if (!take_name(connection, *agent, true)) return;
  connection.agent.write() = agent->name();
  connection.capabilities.write() = agent->session->capabilities;
  agent->lease->resume_token = wanted->resume_token;
  mark_reconnected(*agent);
  // Positions apply to the streams that exist now; a later stream starts at 1.
  std::vector<protocol::StreamPosition> resume_positions;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    if (positions[i] == nullptr) continue;
    resume_positions.push_back(
        {streams[i].topic.value(), streams[i].from.value(), positions[i]->last_seq, streams[i].lane});
  }
  parts_.deliveries.set_resume_positions(*agent, std::move(resume_positions));
  agent->connections.write().push_back(connection.id);
  std::vector<protocol::SyncStream> sync;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    const auto& stream = streams[i];
    bytes += 2 * (stream.topic.value().size() + stream.from.value().size()) + kSyncStreamBytes;
    if (bytes > protocol::kMaxResponseBytes) break;  // every stream is replayed, listed or not
    sync.push_back({stream.topic.value(), stream.from.value(),
                    positions[i] == nullptr ? stream.acked.value() : positions[i]->last_seq, stream.last.value(),
                    stream.lane});
  }
  parts_.connections.send_new(connection, MessageType::Sync, protocol::write_sync(agent->session->id.value(), sync));
  parts_.event_recorder.record_activity(*agent, agent->activity->state);
  activate(connection, *agent);
}

}  // namespace relay::broker
