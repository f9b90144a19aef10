/// The remaining frames a client may send: channels, shadows, queries, events, workspaces. Off the hot path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "protocol/delivery_mode.h"
#include "protocol/names.h"

namespace relay::protocol {

struct ChannelChange {  // CHANNEL_JOIN and CHANNEL_LEAVE
  std::string channel;
  std::string member;  // administrative form: another agent joins or leaves, without notice
  std::string display_name, avatar_url, reason;
};
Result<ChannelChange> parse_channel_change(std::string_view payload);

struct ChannelMessage {  // CHANNEL_MESSAGE; the payload is forwarded unchanged
  std::string channel;
  std::string thread;
};
Result<ChannelMessage> parse_channel_message(std::string_view payload);

struct ShadowBind {
  std::string primary;
  std::vector<std::string> speak_on;  // SESSION_END, CODE_WRITTEN, REVIEW_REQUEST, EXPLICIT_ASK, ALL_MESSAGES
  bool receive_incoming = true;
  bool receive_outgoing = true;
};
Result<ShadowBind> parse_shadow_bind(std::string_view payload);
Result<std::string> parse_shadow_unbind(std::string_view payload);

struct InboxRequest {
  std::string agent;
  std::size_t limit = 0;  // 0: the default
  bool unread_only = false;
  std::string from, channel, topic;
  std::int64_t before_key = 0;  // this project's: only earlier ones; 0: all
};
Result<InboxRequest> parse_inbox(std::string_view payload);

struct MessagesRequest {
  std::size_t limit = 0;
  WallMs since = 0;
  std::string from, to, thread, topic;
  bool ascending = false;
  // This project's:
  std::string id;               // a short id or a prefix of one
  std::string search;           // full text
  std::int64_t after_key = 0;   // only later ones
  std::int64_t before_key = 0;  // only earlier ones; 0: all
};
Result<MessagesRequest> parse_messages_query(std::string_view payload);

/// TOPICS: lists subscriptions, or changes one.
struct TopicsRequest {
  enum class Action : std::uint8_t { List, Subscribe, Unsubscribe } action = Action::List;
  std::string agent = {};  // the subscriber; empty: the sender, in a list everyone
  std::string topic = {};  // in a list: only this one
};
Result<TopicsRequest> parse_topics(std::string_view payload);

struct AgentsRequest {
  bool include_idle = false;
  std::string agent = {};  // only this agent
  std::string after = {};  // those after it, in the order of names
};
Result<AgentsRequest> parse_list_agents(std::string_view payload);

struct RemoveAgentRequest {
  std::string name;
  bool remove_messages = false;
};
Result<RemoveAgentRequest> parse_remove_agent(std::string_view payload);

struct HealthRequest {
  bool include_crashes = true;
  bool include_alerts = true;
};
Result<HealthRequest> parse_health(std::string_view payload);

Result<std::string> parse_metrics(std::string_view payload);  // the requested agent, or empty
Result<std::string> parse_name(std::string_view payload);     // SET_MODEL and similar: `name`
Result<std::string> parse_trace(std::string_view payload);    // `id`: a short id or a prefix of one

/// Selects events; empty lists match all.
struct EventFilter {
  std::vector<std::string> types;  // `item.started`, or a group: `item`
  std::vector<std::string> agents;
  std::vector<std::string> sessions;
};
struct EventsSubscribe {
  EventFilter filter;
  std::int64_t since = -1;  // -1: from now on; else all events after that number first
  WallMs since_ts = 0;      // alternatively: all events since that time; 0: not set
};
Result<EventsSubscribe> parse_events_subscribe(std::string_view payload);

struct EventsRequest {
  EventFilter filter;
  std::int64_t after = 0, before = 0;  // before 0: up to the newest
  WallMs since_ts = 0, until_ts = 0;   // 0: any
  std::size_t limit = 0;               // 0: not set
  bool newest = false;
};
Result<EventsRequest> parse_events_query(std::string_view payload);

struct UsageRequest {
  WallMs since_ts = 0, until_ts = 0;  // 0: any
  std::string agent, session;         // empty: any
};
Result<UsageRequest> parse_usage_query(std::string_view payload);
Result<std::string> parse_session_query(std::string_view payload);  // `id`

/// The event that a session reports: a JSON object as received.
Result<std::string_view> parse_agent_event(std::string_view payload);

struct LogLine {
  std::string data;
  WallMs timestamp = 0;
};
Result<LogLine> parse_log(std::string_view payload);

struct SessionStateChange {
  std::string state;  // starting, active, idle, waiting, blocked, paused
  std::string reason;
  std::string capabilities = {};              // the session's interfaces: a JSON object as received; empty when absent
  std::optional<DeliveryModes> modes = {};    // the modes it supports from now on; empty when absent
  std::optional<DeliveryMode> boundary = {};  // it is immediately before its next message or tool call
};
Result<SessionStateChange> parse_session_state(std::string_view payload);

struct WorkspaceRequest {  // WORKSPACE_OPEN and WORKSPACE_CLOSE, on the daemon's own socket
  std::string root;        // absolute project root
  std::string socket;      // another socket path to listen on, or empty
};
Result<WorkspaceRequest> parse_workspace(std::string_view payload);

}  // namespace relay::protocol
