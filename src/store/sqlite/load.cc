#include "store/sqlite/load.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "store/message_rows.h"
#include "store/record_json.h"
#include "store/sqlite/names.h"
#include "store/sqlite/queries.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/schema.h"

namespace relay::store {

using namespace records;

namespace {

Result<void> load_agents(SqliteConnection& connection, WorkspaceState& state) {
  auto rows = RELAY_TRY(connection.prepare(
      "SELECT name,entity,cli,program,model,task,working_directory,team,display_name,avatar_url,claim_hash,first_seen,"
      "last_seen,paused,pause_reason,policy FROM agents ORDER BY name"));
  while (RELAY_TRY(rows.step())) {
    auto& agent = state.agents.emplace_back();
    agent.name = AgentName{rows.text(0)};
    agent.entity = rows.integer(1) == 1 ? protocol::EntityType::User : protocol::EntityType::Agent;
    int column = 2;
    for (auto* text : {&agent.cli, &agent.program, &agent.model, &agent.task, &agent.working_directory, &agent.team,
                       &agent.display_name, &agent.avatar_url, &agent.claim_hash}) {
      *text = rows.text(column++);
    }
    agent.first_seen = rows.integer(11);
    agent.last_seen = rows.integer(12);
    agent.paused = rows.integer(13) != 0;
    agent.pause_reason = rows.text(14);
    if (!rows.is_null(15)) agent.policy = RELAY_TRY(policy_from_json(rows.text(15)));
  }
  return {};
}

Result<void> load_counts(SqliteConnection& connection, WorkspaceState& state) {
  auto rows =
      RELAY_TRY(connection.prepare("SELECT n.name,c.sent,c.received FROM message_counts c JOIN names n ON n.id=c.name"
                                   " WHERE c.sent>0 OR c.received>0 ORDER BY n.name"));
  while (RELAY_TRY(rows.step())) {
    state.counts.push_back({AgentName{rows.text(0)}, static_cast<std::uint64_t>(rows.integer(1)),
                            static_cast<std::uint64_t>(rows.integer(2))});
  }
  return {};
}

Result<void> load_sessions(SqliteConnection& connection, WorkspaceState& state) {
  auto rows =
      RELAY_TRY(connection.prepare("SELECT id,agent,token_hash,capabilities,started,last_seen,shadows FROM "
                                   "sessions WHERE ended=0 ORDER BY id"));
  while (RELAY_TRY(rows.step())) {
    auto& session = state.sessions.emplace_back();
    session.id = SessionId{rows.text(0)};
    session.agent = AgentName{rows.text(1)};
    session.token_hash = rows.text(2);
    session.capabilities = RELAY_TRY(capabilities_from_json(rows.text(3)));
    session.started = rows.integer(4);
    session.last_seen = rows.integer(5);
    session.shadows = RELAY_TRY(shadows_from_json(rows.text(6)));
  }
  auto topics = RELAY_TRY(connection.prepare("SELECT session,topic FROM subscriptions ORDER BY session, topic"));
  auto session = state.sessions.begin();  // both in the order of ids
  while (RELAY_TRY(topics.step())) {
    const auto id = topics.text(0);
    while (session != state.sessions.end() && session->id.value() < id) ++session;
    if (session != state.sessions.end() && session->id.value() == id) session->topics.push_back(topics.text(1));
  }
  return {};
}

Result<void> load_streams(SqliteConnection& connection, WorkspaceState& state) {
  auto rows =
      RELAY_TRY(connection.prepare("SELECT t.topic,s.name,r.name,t.lane,t.last,t.acked FROM streams t JOIN names s ON "
                                   "s.id=t.sender JOIN names r ON r.id=t.recipient"
                                   " ORDER BY t.topic, s.name, r.name, t.lane"));
  while (RELAY_TRY(rows.step())) {
    state.streams.push_back({Topic{rows.text(0)}, AgentName{rows.text(1)}, AgentName{rows.text(2)},
                             read_lane(rows.integer(3)), Seq{static_cast<std::uint64_t>(rows.integer(4))},
                             Seq{static_cast<std::uint64_t>(rows.integer(5))}});
  }
  return {};
}

Result<void> load_stream_marks(SqliteConnection& connection, WorkspaceState& state) {
  auto rows = RELAY_TRY(
      connection.prepare("SELECT s.name,r.name,t.lane,t.last FROM stream_marks t JOIN names s ON s.id=t.sender"
                         " JOIN names r ON r.id=t.recipient ORDER BY s.name, r.name, t.lane"));
  while (RELAY_TRY(rows.step())) {
    state.stream_marks.push_back({Topic{}, AgentName{rows.text(0)}, AgentName{rows.text(1)}, read_lane(rows.integer(2)),
                                  Seq{static_cast<std::uint64_t>(rows.integer(3))}, Seq{}});
  }
  return {};
}

Result<void> load_memberships(SqliteConnection& connection, WorkspaceState& state) {
  auto rows = RELAY_TRY(connection.prepare("SELECT channel,member FROM channel_members ORDER BY channel, member"));
  while (RELAY_TRY(rows.step())) state.memberships.push_back({rows.text(0), AgentName{rows.text(1)}});
  return {};
}

Result<void> load_marks(SqliteConnection& connection, WorkspaceState& state) {
  auto rows = RELAY_TRY(
      connection.prepare("SELECT sender,epoch,high,refused,updated FROM outbox_marks ORDER BY sender, epoch"));
  while (RELAY_TRY(rows.step())) {
    auto& mark = state.marks.emplace_back();
    mark.sender = AgentName{rows.text(0)};
    mark.epoch = rows.text(1);
    mark.high = static_cast<std::uint64_t>(rows.integer(2));
    if (!rows.is_null(3)) mark.refused = RELAY_TRY(numbers_from_json(rows.text(3)));
    mark.updated = rows.integer(4);
  }
  return {};
}

Result<void> load_proposals(SqliteConnection& connection, WorkspaceState& state) {
  auto rows = RELAY_TRY(connection.prepare(
      "SELECT id,title,description,type,proposer,participants,votes,thread,created,expires_at,quorum,threshold"
      " FROM proposals WHERE outcome IS NULL ORDER BY id"));
  while (RELAY_TRY(rows.step())) {
    auto& proposal = state.proposals.emplace_back();
    proposal.id = rows.text(0);
    proposal.title = rows.text(1);
    proposal.description = rows.text(2);
    proposal.type = rows.text(3);
    proposal.proposer = AgentName{rows.text(4)};
    proposal.participants = RELAY_TRY(names_from_json(rows.text(5)));
    proposal.votes = RELAY_TRY(votes_from_json(rows.text(6)));
    proposal.thread = rows.text(7);
    proposal.created = rows.integer(8);
    proposal.expires_at = rows.integer(9);
    proposal.quorum = static_cast<std::uint32_t>(rows.integer(10));
    proposal.threshold = rows.real(11);
  }
  return {};
}

Result<void> load_recent_ids(SqliteConnection& connection, WorkspaceState& state) {
  // The names are few and looked up once each: a join would cost more than the rows.
  std::unordered_map<std::int64_t, AgentName> names;
  auto rows =
      RELAY_TRY(connection.prepare("SELECT key,id,sender,iif(instr(payload_meta,'idempotencyKey'),payload_meta,NULL)"
                                   " FROM messages ORDER BY key DESC LIMIT ?1"));
  auto find_name = RELAY_TRY(connection.prepare("SELECT name FROM names WHERE id=?1"));
  rows.bind(static_cast<std::int64_t>(kRecentIdRows));
  while (RELAY_TRY(rows.step())) {
    const auto sender = rows.integer(2);
    auto found = names.find(sender);
    if (found == names.end()) {
      find_name.bind(sender);
      found = names.emplace(sender, AgentName{RELAY_TRY(find_name.step()) ? find_name.text(0) : std::string{}}).first;
      find_name.reset();
    }
    state.recent_ids.push_back({found->second, rows.text(1), Key{rows.integer(0)}});
    if (rows.is_null(3)) continue;
    if (auto key = idempotency_key_in(rows.text(3)); !key.empty())
      state.recent_keys.push_back({found->second, std::move(key)});
  }
  std::reverse(state.recent_ids.begin(), state.recent_ids.end());
  std::reverse(state.recent_keys.begin(), state.recent_keys.end());
  return {};
}

Result<void> load_backlogs(SqliteConnection& connection, WorkspaceState& state) {
  std::map<std::tuple<std::string, std::uint8_t, std::string>, WorkspaceState::Backlog> flows;
  const auto count = [&](const char* sql, bool held) -> Result<void> {
    auto rows = RELAY_TRY(connection.prepare(sql));
    while (RELAY_TRY(rows.step())) {
      const auto lane = read_lane(rows.integer(1));
      auto& flow = flows[{rows.text(0), protocol::lane_code(lane), rows.text(2)}];
      flow.to = AgentName{rows.text(0)};
      flow.lane = lane;
      flow.from = AgentName{rows.text(2)};
      const auto deliveries = static_cast<std::uint64_t>(rows.integer(3));
      flow.pending += deliveries;
      if (held) flow.held += deliveries;
    }
    return {};
  };
#define RELAY_FLOWS(index, condition)                                                                             \
  "SELECT r.name, p.lane, s.name, p.deliveries FROM (SELECT recipient, lane, sender, count(*) AS deliveries FROM" \
  " deliveries INDEXED BY " index " WHERE " condition                                                             \
  " GROUP BY recipient, lane, sender) p JOIN names r ON"                                                          \
  " r.id=p.recipient JOIN names s ON s.id=p.sender"
  RELAY_TRY(count(RELAY_FLOWS("deliveries_waiting", RELAY_IN_LANE("")), false));
  RELAY_TRY(count(RELAY_FLOWS("deliveries_held", RELAY_HELD("")), true));
#undef RELAY_FLOWS
  for (auto& [key, flow] : flows) state.backlogs.push_back(std::move(flow));
  state.next_expiry = RELAY_TRY(
      connection.integer("SELECT expires_at FROM deliveries INDEXED BY deliveries_expiring WHERE " RELAY_PENDING(
          "") " AND expires_at>0 ORDER BY expires_at LIMIT 1"));
  state.next_due = RELAY_TRY(
      connection.integer("SELECT available_at FROM deliveries INDEXED BY deliveries_due WHERE " RELAY_HELD_FOR_A_TIME(
          "") " ORDER BY available_at LIMIT 1"));
  return {};
}

}  // namespace

Result<WorkspaceState> load_state(SqliteConnection& connection) {
  const auto transaction = RELAY_TRY(ReadTransaction::begin(connection));
  WorkspaceState state;
  state.newest = RELAY_TRY(newest_key(connection));
  for (const auto load : {load_agents, load_counts, load_sessions, load_streams, load_stream_marks, load_memberships,
                          load_marks, load_proposals, load_recent_ids, load_backlogs}) {
    RELAY_TRY(load(connection, state));
  }
  return state;
}

Result<BacklogPage> load_backlog(SqliteConnection& connection, const BacklogRequest& request) {
  BacklogPage page{request.to, request.lane, request.from, request.after, {}, false};
  const auto recipient = RELAY_TRY(find_name(connection, request.to.value()));
  const auto sender = RELAY_TRY(find_name(connection, request.from.value()));
  if (!recipient || !sender) return page;
  const auto rows =
      RELAY_TRY(connection.use("SELECT " RELAY_DELIVERY_COLUMNS "," RELAY_MESSAGE_COLUMNS
                               " FROM deliveries d INDEXED BY deliveries_waiting CROSS JOIN messages m ON "
                               "m.key=d.message" RELAY_MESSAGE_NAMES RELAY_DELIVERY_NAMES
                               "WHERE d.recipient=?1 AND d.lane=?2 AND d.sender=?3 AND d.rank>?4 AND " RELAY_IN_LANE(
                                   "d.") " ORDER BY d.rank LIMIT ?5"));
  const auto max_rows = std::max<std::size_t>(request.max_rows, 1);
  rows->bind(*recipient, std::int64_t{protocol::lane_code(request.lane)}, *sender, request.after.value(),
             static_cast<std::int64_t>(max_rows) + 1);
  std::size_t bytes = 0;
  while (RELAY_TRY(rows->step())) {
    auto message = read_message(*rows.operator->(), kDeliveryColumns);
    bytes += size_of(message);
    if (page.items.size() >= max_rows || (!page.items.empty() && bytes > request.max_bytes)) {
      page.more = true;
      break;
    }
    page.items.push_back({read_delivery(*rows.operator->(), 0), std::move(message)});
  }
  return page;
}

}  // namespace relay::store
