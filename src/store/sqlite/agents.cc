// Agents, sessions, channels, outboxes and proposals: rows that are replaced as a whole, outside the hot path.
#include "store/record_json.h"
#include "store/sqlite/writer.h"

namespace relay::store {

using namespace records;

Result<void> SqliteWriter::on(const PutAgent& change) {
  const auto& agent = change.agent;
  RELAY_TRY(write_counts());  // the counts of a name before its agent row are dropped
  const auto policy = agent.policy.empty() ? std::string{} : protocol::write_policy(agent.policy);
  const auto put = RELAY_TRY(connection_.use(
      "INSERT OR REPLACE INTO agents(name,entity,cli,program,model,task,working_directory,team,display_name,avatar_url,"
      "claim_hash,first_seen,last_seen,paused,pause_reason,policy)"
      " VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16)"));
  put->bind(std::string_view{agent.name.value()}, static_cast<std::int64_t>(agent.entity), OrNull{agent.cli},
            OrNull{agent.program}, OrNull{agent.model}, OrNull{agent.task}, OrNull{agent.working_directory},
            OrNull{agent.team}, OrNull{agent.display_name}, OrNull{agent.avatar_url}, OrNull{agent.claim_hash},
            agent.first_seen, agent.last_seen, std::int64_t{agent.paused}, OrNull{agent.pause_reason}, OrNull{policy});
  return put->run();
}

Result<void> SqliteWriter::on(const PutSession& change) {
  const auto& session = change.session;
  const auto capabilities = to_json(session.capabilities);
  const auto shadows = to_json(session.shadows);
  const auto put = RELAY_TRY(connection_.use(
      "INSERT OR REPLACE INTO sessions(id,agent,token_hash,capabilities,started,last_seen,ended,topics,shadows)"
      " VALUES(?1,?2,?3,?4,?5,?6,?7,'[]',?8)"));
  put->bind(std::string_view{session.id.value()}, std::string_view{session.agent.value()}, OrNull{session.token_hash},
            std::string_view{capabilities}, session.started, session.last_seen, session.ended,
            std::string_view{shadows});
  RELAY_TRY(put->run());
  const auto clear = RELAY_TRY(connection_.use("DELETE FROM subscriptions WHERE session=?1"));
  clear->bind(std::string_view{session.id.value()});
  RELAY_TRY(clear->run());
  if (session.ended != 0) return {};
  for (const auto& topic : session.topics) RELAY_TRY(on(AddSubscription{session.id, topic}));
  return {};
}

Result<void> SqliteWriter::on(const AddSubscription& change) {
  const auto add =
      RELAY_TRY(connection_.use("INSERT OR IGNORE INTO subscriptions(session,topic) SELECT ?1,?2"
                                " WHERE EXISTS(SELECT 1 FROM sessions WHERE id=?1 AND ended=0)"));
  add->bind(std::string_view{change.session.value()}, std::string_view{change.topic});
  return add->run();
}

Result<void> SqliteWriter::on(const RemoveSubscription& change) {
  const auto remove = RELAY_TRY(connection_.use("DELETE FROM subscriptions WHERE session=?1 AND topic=?2"));
  remove->bind(std::string_view{change.session.value()}, std::string_view{change.topic});
  return remove->run();
}

Result<void> SqliteWriter::on(const JoinChannel& change) {
  const auto join = RELAY_TRY(connection_.use("INSERT OR IGNORE INTO channel_members(channel,member) VALUES(?1,?2)"));
  join->bind(std::string_view{change.membership.channel}, std::string_view{change.membership.member.value()});
  return join->run();
}

Result<void> SqliteWriter::on(const LeaveChannel& change) {
  const auto leave = RELAY_TRY(connection_.use("DELETE FROM channel_members WHERE channel=?1 AND member=?2"));
  leave->bind(std::string_view{change.membership.channel}, std::string_view{change.membership.member.value()});
  return leave->run();
}

Result<void> SqliteWriter::on(const SetOutboxMark& change) {
  const auto [entry, added] = marks_.try_emplace({change.mark.sender.value(), change.mark.epoch}, change.mark);
  if (!added && entry->second.high <= change.mark.high) entry->second = change.mark;
  return {};
}

Result<void> SqliteWriter::write(const OutboxMark& mark) {
  const auto refused = mark.refused.empty() ? std::string{} : to_json(mark.refused);
  const auto set = RELAY_TRY(connection_.use(
      "INSERT INTO outbox_marks(sender,epoch,high,refused,updated) VALUES(?1,?2,?3,?4,?5) ON CONFLICT DO UPDATE SET"
      " high=excluded.high, refused=excluded.refused, updated=excluded.updated WHERE excluded.high>=high"));
  set->bind(std::string_view{mark.sender.value()}, std::string_view{mark.epoch}, static_cast<std::int64_t>(mark.high),
            OrNull{refused}, mark.updated);
  return set->run();
}

Result<void> SqliteWriter::on(const PutProposal& change) {
  const auto& proposal = change.proposal;
  const auto participants = to_json(proposal.participants);
  const auto votes = to_json(proposal.votes);
  const auto put = RELAY_TRY(
      connection_.use("INSERT OR REPLACE INTO "
                      "proposals(id,title,description,type,proposer,participants,votes,thread,created,expires_at,"
                      "quorum,threshold,outcome) VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13)"));
  put->bind(std::string_view{proposal.id}, OrNull{proposal.title}, OrNull{proposal.description}, OrNull{proposal.type},
            std::string_view{proposal.proposer.value()}, std::string_view{participants}, std::string_view{votes},
            OrNull{proposal.thread}, proposal.created, proposal.expires_at, std::int64_t{proposal.quorum},
            proposal.threshold, OrNull{proposal.outcome});
  return put->run();
}

}  // namespace relay::store
