#include "protocol/requests.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "protocol/description_limits.h"
#include "protocol/errors.h"
#include "protocol/limits.h"
#include "protocol/payload_fields.h"
#include "text/utf8.h"

namespace relay::protocol {
namespace {

constexpr std::array<std::string_view, 8> kSessionStates = {"starting", "active",  "typing", "idle",
                                                            "waiting",  "blocked", "paused", "unknown"};
constexpr std::array<std::string_view, 5> kShadowTriggers = {"SESSION_END", "CODE_WRITTEN", "REVIEW_REQUEST",
                                                             "EXPLICIT_ASK", "ALL_MESSAGES"};

Result<std::string> read_channel(const Field& field) {
  auto channel = RELAY_TRY(read_required_string(field, kMaxFrameBytes));
  RELAY_TRY(check_channel_name(channel));
  return channel;
}

Result<std::string> read_agent_name(const Field& field) {
  auto name = RELAY_TRY(read_required_string(field, kMaxFrameBytes));
  RELAY_TRY(check_agent_name(name));
  return name;
}

/// A larger value than the limit is not an error: the response then has the maximum number of rows.
Result<std::size_t> read_limit(const Field& field) {
  return static_cast<std::size_t>(
      std::min<std::int64_t>(RELAY_TRY(read_count(field)), static_cast<std::int64_t>(kMaxQueryRows)));
}

Result<EventFilter> read_event_filter(const Field& types, const Field& agents, const Field& sessions) {
  return EventFilter{RELAY_TRY(read_strings(types, kMaxEventTypes, kMaxKindBytes)),
                     RELAY_TRY(read_strings(agents, kMaxEventTypes, kMaxNameBytes)),
                     RELAY_TRY(read_strings(sessions, kMaxEventTypes, kMaxIdBytes))};
}

/// A path the system can open: absolute, without a NUL that would end it early. Empty when absent.
Result<std::string> read_path(const Field& field) {
  auto path = RELAY_TRY(read_string(field, kMaxPathBytes));
  if (!path.empty() && (path.front() != '/' || text::has_control_characters(path))) {
    return fail(Errc::BadField, format("the field \"{}\" must be an absolute path", field.name));
  }
  return path;
}

Result<std::string> read_single_string(std::string_view payload, std::string_view name, std::size_t max_bytes) {
  Field field{name};
  RELAY_TRY(read_fields(payload, {&field}));
  return read_required_string(field, max_bytes);
}

}  // namespace

Result<ChannelChange> parse_channel_change(std::string_view payload) {
  RELAY_TRY(check_forwardable(payload));
  Field channel{"channel"}, member{"member"}, display{"displayName"}, avatar{"avatarUrl"}, reason{"reason"};
  RELAY_TRY(read_fields(payload, {&channel, &member, &display, &avatar, &reason}));
  ChannelChange change;
  change.channel = RELAY_TRY(read_channel(channel));
  if (member.present()) change.member = RELAY_TRY(read_agent_name(member));
  change.display_name = RELAY_TRY(read_truncated_string(display, kMaxLabelBytes));
  change.avatar_url = RELAY_TRY(read_string(avatar, kMaxFrameBytes));
  if (change.avatar_url.size() > kMaxAvatarBytes) change.avatar_url.clear();  // a truncated address is another address
  change.reason = RELAY_TRY(read_truncated_string(reason, kMaxReasonBytes));
  return change;
}

Result<ChannelMessage> parse_channel_message(std::string_view payload) {
  Field channel{"channel"}, body{"body"}, thread{"thread"};
  RELAY_TRY(read_fields(payload, {&channel, &body, &thread}));
  if (body.present() && body.value.kind != text::JsonKind::String) {
    return fail(Errc::BadField, "the field \"body\" must be a string");
  }
  ChannelMessage post;
  post.channel = RELAY_TRY(read_channel(channel));
  post.thread = RELAY_TRY(read_string(thread, kMaxIdBytes));
  return post;
}

Result<ShadowBind> parse_shadow_bind(std::string_view payload) {
  Field primary{"primaryAgent"}, speak_on{"speakOn"}, incoming{"receiveIncoming"}, outgoing{"receiveOutgoing"};
  RELAY_TRY(read_fields(payload, {&primary, &speak_on, &incoming, &outgoing}));
  ShadowBind bind;
  bind.primary = RELAY_TRY(read_agent_name(primary));
  bind.speak_on = RELAY_TRY(read_strings(speak_on, kMaxShadowTriggers, kMaxKindBytes));
  for (const std::string& trigger : bind.speak_on) {
    if (std::find(kShadowTriggers.begin(), kShadowTriggers.end(), trigger) == kShadowTriggers.end()) {
      return fail(Errc::BadField,
                  "the field \"speakOn\" may be SESSION_END, CODE_WRITTEN, REVIEW_REQUEST, EXPLICIT_ASK "
                  "and ALL_MESSAGES");
    }
  }
  bind.receive_incoming = RELAY_TRY(read_bool(incoming, true));
  bind.receive_outgoing = RELAY_TRY(read_bool(outgoing, true));
  return bind;
}

Result<std::string> parse_shadow_unbind(std::string_view payload) {
  Field primary{"primaryAgent"};
  RELAY_TRY(read_fields(payload, {&primary}));
  return read_agent_name(primary);
}

Result<InboxRequest> parse_inbox(std::string_view payload) {
  Field agent{"agent"}, limit{"limit"}, unread{"unreadOnly"}, from{"from"}, channel{"channel"}, before{"beforeKey"},
      topic{"topic"};
  RELAY_TRY(read_fields(payload, {&agent, &limit, &unread, &from, &channel, &before, &topic}));
  InboxRequest request;
  request.agent = RELAY_TRY(read_string(agent, kMaxNameBytes));
  request.limit = RELAY_TRY(read_limit(limit));
  request.unread_only = RELAY_TRY(read_bool(unread, false));
  request.from = RELAY_TRY(read_string(from, kMaxNameBytes));
  request.channel = RELAY_TRY(read_string(channel, kMaxTopicBytes));
  request.topic = RELAY_TRY(read_string(topic, kMaxTopicBytes));
  request.before_key = RELAY_TRY(read_count(before));
  return request;
}

Result<MessagesRequest> parse_messages_query(std::string_view payload) {
  Field limit{"limit"}, since{"sinceTs"}, from{"from"}, to{"to"}, thread{"thread"}, order{"order"}, id{"id"},
      search{"search"}, after{"afterKey"}, before{"beforeKey"}, topic{"topic"};
  RELAY_TRY(read_fields(payload, {&limit, &since, &from, &to, &thread, &order, &id, &search, &after, &before, &topic}));
  MessagesRequest request;
  request.limit = RELAY_TRY(read_limit(limit));
  request.since = RELAY_TRY(read_time(since));
  request.from = RELAY_TRY(read_string(from, kMaxNameBytes));
  request.to = RELAY_TRY(read_string(to, kMaxTopicBytes));
  request.thread = RELAY_TRY(read_string(thread, kMaxIdBytes));
  request.topic = RELAY_TRY(read_string(topic, kMaxTopicBytes));
  const auto direction = RELAY_TRY(read_string(order, kMaxKindBytes));
  if (!direction.empty() && direction != "asc" && direction != "desc") {
    return fail(Errc::BadField, "the field \"order\" must be asc or desc");
  }
  request.ascending = direction == "asc";
  request.id = RELAY_TRY(read_string(id, kMaxIdBytes));
  request.search = RELAY_TRY(read_string(search, kMaxSearchBytes));
  request.after_key = RELAY_TRY(read_count(after));
  request.before_key = RELAY_TRY(read_count(before));
  return request;
}

Result<TopicsRequest> parse_topics(std::string_view payload) {
  Field action{"action"}, agent{"agent"}, topic{"topic"};
  RELAY_TRY(read_fields(payload, {&action, &agent, &topic}));
  TopicsRequest request;
  const auto name = RELAY_TRY(read_string(action, kMaxKindBytes));
  if (!name.empty() && name != "list" && name != "subscribe" && name != "unsubscribe")
    return fail(Errc::BadField, "the field \"action\" must be list, subscribe or unsubscribe");
  if (name == "subscribe") request.action = TopicsRequest::Action::Subscribe;
  if (name == "unsubscribe") request.action = TopicsRequest::Action::Unsubscribe;
  request.agent = RELAY_TRY(read_string(agent, kMaxNameBytes));
  request.topic = RELAY_TRY(read_string(topic, kMaxTopicBytes));
  if (text::has_control_characters(request.topic))
    return fail(Errc::BadField, "the field \"topic\" contains a control character; leave it out");
  if (request.action != TopicsRequest::Action::List && request.topic.empty())
    return fail(Errc::BadField, "a subscription needs a \"topic\"");
  return request;
}

Result<AgentsRequest> parse_list_agents(std::string_view payload) {
  Field include_idle{"includeIdle"}, agent{"agent"}, after{"after"};
  RELAY_TRY(read_fields(payload, {&include_idle, &agent, &after}));
  AgentsRequest request;
  request.include_idle = RELAY_TRY(read_bool(include_idle, false));
  request.agent = RELAY_TRY(read_string(agent, kMaxNameBytes));
  request.after = RELAY_TRY(read_string(after, kMaxNameBytes));
  return request;
}

Result<RemoveAgentRequest> parse_remove_agent(std::string_view payload) {
  Field name{"name"}, messages{"removeMessages"};
  RELAY_TRY(read_fields(payload, {&name, &messages}));
  RemoveAgentRequest request;
  request.name = RELAY_TRY(read_required_string(name, kMaxNameBytes));
  request.remove_messages = RELAY_TRY(read_bool(messages, false));
  return request;
}

Result<HealthRequest> parse_health(std::string_view payload) {
  Field crashes{"includeCrashes"}, alerts{"includeAlerts"};
  RELAY_TRY(read_fields(payload, {&crashes, &alerts}));
  HealthRequest request;
  request.include_crashes = RELAY_TRY(read_bool(crashes, true));
  request.include_alerts = RELAY_TRY(read_bool(alerts, true));
  return request;
}

Result<std::string> parse_metrics(std::string_view payload) {
  Field agent{"agent"};
  RELAY_TRY(read_fields(payload, {&agent}));
  return read_string(agent, kMaxNameBytes);
}

Result<std::string> parse_name(std::string_view payload) { return read_single_string(payload, "name", kMaxNameBytes); }

Result<std::string> parse_trace(std::string_view payload) { return read_single_string(payload, "id", kMaxIdBytes); }

Result<EventsSubscribe> parse_events_subscribe(std::string_view payload) {
  Field types{"types"}, agents{"agents"}, sessions{"sessions"}, since{"since"}, since_ts{"sinceTs"};
  RELAY_TRY(read_fields(payload, {&types, &agents, &sessions, &since, &since_ts}));
  EventsSubscribe request;
  request.filter = RELAY_TRY(read_event_filter(types, agents, sessions));
  request.since = std::max<std::int64_t>(RELAY_TRY(read_integer(since)).value_or(-1), -1);
  request.since_ts = RELAY_TRY(read_time(since_ts));
  return request;
}

Result<EventsRequest> parse_events_query(std::string_view payload) {
  Field types{"types"}, agents{"agents"}, sessions{"sessions"}, after{"after"}, since{"sinceTs"}, until{"untilTs"},
      limit{"limit"}, newest{"newest"}, before{"before"};
  RELAY_TRY(read_fields(payload, {&types, &agents, &sessions, &after, &since, &until, &limit, &newest, &before}));
  EventsRequest request;
  request.filter = RELAY_TRY(read_event_filter(types, agents, sessions));
  request.after = std::max<std::int64_t>(RELAY_TRY(read_integer(after)).value_or(0), 0);
  request.since_ts = RELAY_TRY(read_time(since));
  request.until_ts = RELAY_TRY(read_time(until));
  request.limit = RELAY_TRY(read_limit(limit));
  request.newest = RELAY_TRY(read_bool(newest, false));
  request.before = std::max<std::int64_t>(RELAY_TRY(read_integer(before)).value_or(0), 0);
  return request;
}

Result<UsageRequest> parse_usage_query(std::string_view payload) {
  Field since{"sinceTs"}, until{"untilTs"}, agent{"agent"}, session{"session"};
  RELAY_TRY(read_fields(payload, {&since, &until, &agent, &session}));
  UsageRequest request;
  request.since_ts = RELAY_TRY(read_time(since));
  request.until_ts = RELAY_TRY(read_time(until));
  request.agent = RELAY_TRY(read_string(agent, kMaxNameBytes));
  request.session = RELAY_TRY(read_string(session, kMaxIdBytes));
  return request;
}

Result<std::string> parse_session_query(std::string_view payload) {
  return read_single_string(payload, "id", kMaxIdBytes);
}

Result<std::string_view> parse_agent_event(std::string_view payload) {
  Field event{"event"};
  RELAY_TRY(read_fields(payload, {&event}));
  const auto object = RELAY_TRY(read_object(event));
  if (object.empty()) return fail(Errc::MissingField, "the field \"event\" is missing");
  return object;
}

Result<LogLine> parse_log(std::string_view payload) {
  RELAY_TRY(check_forwardable(payload));
  Field data{"data"}, timestamp{"timestamp"};
  RELAY_TRY(read_fields(payload, {&data, &timestamp}));
  LogLine line;
  line.data = RELAY_TRY(read_string(data, kMaxFrameBytes));
  line.timestamp = RELAY_TRY(read_time(timestamp));
  return line;
}

Result<SessionStateChange> parse_session_state(std::string_view payload) {
  Field state{"state"}, reason{"reason"}, capabilities{"capabilities"}, modes{"modes"}, boundary{"boundary"};
  RELAY_TRY(read_fields(payload, {&state, &reason, &capabilities, &modes, &boundary}));
  SessionStateChange change;
  change.capabilities = RELAY_TRY(read_object(capabilities));
  if (change.capabilities.size() > kMaxCapabilitiesBytes)
    return fail(Errc::BadField, format("the field \"capabilities\" is longer than {} bytes", kMaxCapabilitiesBytes));
  change.state = RELAY_TRY(read_required_string(state, kMaxKindBytes));
  if (std::find(kSessionStates.begin(), kSessionStates.end(), change.state) == kSessionStates.end()) {
    return fail(Errc::BadField,
                "the field \"state\" must be starting, active, typing, idle, waiting, blocked, paused or unknown");
  }
  change.reason = RELAY_TRY(read_truncated_string(reason, kMaxReasonBytes));
  if (modes.present()) change.modes = RELAY_TRY(read_modes(modes));
  if (const auto boundary_name = RELAY_TRY(read_string(boundary, kMaxKindBytes)); !boundary_name.empty()) {
    if (boundary_name != "message" && boundary_name != "tool-call")
      return fail(Errc::BadField, "the field \"boundary\" must be message or tool-call");
    change.boundary = boundary_name == "message" ? DeliveryMode::NextMessage : DeliveryMode::NextToolCall;
  }
  return change;
}

Result<WorkspaceRequest> parse_workspace(std::string_view payload) {
  Field root{"root"}, socket{"socket"};
  RELAY_TRY(read_fields(payload, {&root, &socket}));
  WorkspaceRequest request;
  request.root = RELAY_TRY(read_path(root));
  if (request.root.empty())
    return fail(Errc::MissingField, "the field \"root\" is missing; name the project's directory");
  request.socket = RELAY_TRY(read_path(socket));
  return request;
}

}  // namespace relay::protocol
