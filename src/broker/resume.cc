// RESUME: how a session comes back.
#include <algorithm>

#include "base/format.h"
#include "base/hash.h"
#include "broker/sessions.h"

namespace relay::broker {

using protocol::ErrorCode;
using protocol::MessageType;

namespace {

/// Numbers and keys of one stream in a SYNC, beside its names.
constexpr std::size_t kSyncStreamBytes = 128;

}  // namespace

/// While a session is connected, the store has equal times of its agent and of it: a later daemon can tell by them.
void Sessions::mark_reconnected(AgentState& agent) {
  agent.record.last_seen = agent.session->last_seen = parts_.context.wall();
  parts_.commits.save_eventually(records::PutAgent{agent.record});
  parts_.commits.save_eventually(records::PutSession{*agent.session});
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
    return stale("this session is not known any more; say HELLO");
  }
  // A session's id is listed for everyone; only its token proves who owns it.
  if (wanted->resume_token.empty()) return stale("a session is resumed with its resume_token; say HELLO");
  if (!equal_in_constant_time(sha256_hex(wanted->resume_token), agent->session->token_hash)) {
    return stale("the resume token does not fit; say HELLO");
  }
  const auto streams = parts_.streams.towards(agent->name());
  const auto fits = [](const protocol::StreamPosition& position, const records::Stream& stream) {
    const bool topic_fits =
        position.topic == stream.topic.value() || (stream.topic.value().empty() && position.topic == "default");
    return topic_fits && position.lane == stream.lane &&
           (position.peer.empty() || position.peer == stream.from.value());
  };
  // Numbers count per sender: without a peer a position has a meaning only where the topic has a single sender.
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
  agent->lease->resume_token = wanted->resume_token;
  mark_reconnected(*agent);
  // Positions hold for the streams that exist now; a later one begins at 1 whatever RESUME says.
  std::vector<protocol::StreamPosition> resume_positions;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    if (positions[i] == nullptr) continue;
    resume_positions.push_back(
        {streams[i].topic.value(), streams[i].from.value(), positions[i]->last_seq, streams[i].lane});
  }
  parts_.deliveries.set_resume_positions(*agent, std::move(resume_positions));
  agent->connections.push_back(connection.id);
  std::vector<protocol::SyncStream> sync;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    const auto& stream = streams[i];
    bytes += 2 * (stream.topic.value().size() + stream.from.value().size()) + kSyncStreamBytes;
    if (bytes > protocol::kMaxResponseBytes) break;  // named or not, every stream is replayed
    sync.push_back({stream.topic.value(), stream.from.value(),
                    positions[i] == nullptr ? stream.acked.value() : positions[i]->last_seq, stream.last.value(),
                    stream.lane});
  }
  parts_.connections.send_new(connection, MessageType::Sync, protocol::write_sync(agent->session->id.value(), sync));
  parts_.event_log.record_activity(*agent, agent->activity);
  activate(connection, *agent);
}

}  // namespace relay::broker
