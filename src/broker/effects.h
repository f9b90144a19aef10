/// The effects of the broker, in order. The daemon executes them.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "broker/hosts.h"
#include "records/changes.h"
#include "records/store_query.h"

namespace relay::broker {

using ConnectionId = Named<std::uint64_t, struct ConnectionIdTag>;
/// Identifies one open query of the store or request to a host.
using QueryId = Named<std::uint64_t, struct BrokerQueryTag>;

struct SendFrame {
  ConnectionId to;
  std::string frame;  // the JSON body
};
enum class After { Flush, Now };
/// Followed by `on_disconnect`.
struct Close {
  ConnectionId connection;
  After after = After::Flush;
  std::string reason;
};
struct PauseReading {
  ConnectionId connection;
};
struct ResumeReading {
  ConnectionId connection;
};
struct Persist {
  records::CommitTicket ticket;
  records::Changes changes;
  records::CommitMode mode = records::CommitMode::Immediate;
};
struct LoadBacklog {
  records::BacklogRequest request;
};
struct ExpireDue {
  records::ExpireRequest request;
};
/// Answered once by `on_query_result`.
struct QueryStore {
  QueryId id;
  records::StoreQuery query;
};
// StartHost, StopHost, SendHostInput, ListHosts and AnswerPrompt are answered once each (`on_host_started`,
// `on_host_done`, `on_hosts`).
struct StartHost {
  QueryId id;
  HostSpec spec;
};
struct StopHost {
  QueryId id;
  std::string name;
  Release release;
};
struct SendHostInput {
  QueryId id;
  std::string name;
  std::string data;
};
struct ListHosts {
  QueryId id;
};
/// For any agent with a host, including one in the user's own terminal. An error has a protocol::NackCode if one fits.
struct AnswerPrompt {
  QueryId id;
  std::string agent;
  std::string request;
  PromptAnswer answer;
  std::string by;  // human, policy, or an agent's name
};
/// Hosts may have left records of sessions that ended while the daemon was down or the connection was lost. Answered at
/// once by `on_ended_sessions`, with all records.
struct FindEndedSessions {};
/// The end of that session is durable: the host's record of it can be removed.
struct ForgetEndedSession {
  SessionId session;
};
/// An agent has a prompt for the user.
struct NotifyUser {
  std::string agent;
  std::string request;
  std::string kind;  // permission, question
  std::string text;  // what it wants to do, or the question
  std::string risk;  // of a permission
};
/// An agent connected, left or changed: `agents.json` and the like must be rewritten.
enum class RosterChange : std::uint8_t { Agents, Counts };
struct RosterChanged {
  RosterChange what = RosterChange::Agents;
};
/// A line for the operator's log.
struct WriteLog {
  enum class Level { Debug, Info, Warn } level = Level::Info;
  std::string text;
};

using Effect = std::variant<SendFrame, Close, PauseReading, ResumeReading, Persist, LoadBacklog, ExpireDue, QueryStore,
                            StartHost, StopHost, SendHostInput, ListHosts, AnswerPrompt, FindEndedSessions,
                            ForgetEndedSession, NotifyUser, RosterChanged, WriteLog>;
using Effects = std::vector<Effect>;

}  // namespace relay::broker
