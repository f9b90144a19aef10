/// All message types in one table: the name on the wire and the direction.
///
/// The types of the seed, those of published clients, and this project's own (receipts, session states, event
/// subscription, workspaces) share one table, so that there is only one wire protocol.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace relay::protocol {

enum class Direction : std::uint8_t { ToDaemon, ToClient, Both };

// name, enumerator, direction
#define RELAY_MESSAGE_TYPES(X)                                             \
  X(HELLO, Hello, ToDaemon)                                                \
  X(WELCOME, Welcome, ToClient)                                            \
  X(SEND, Send, ToDaemon)                                                  \
  X(DELIVER, Deliver, ToClient)                                            \
  X(ACK, Ack, Both)                                                        \
  X(NACK, Nack, Both)                                                      \
  X(PING, Ping, ToClient)                                                  \
  X(PONG, Pong, ToDaemon)                                                  \
  X(ERROR, Error, ToClient)                                                \
  X(BUSY, Busy, ToClient)                                                  \
  X(RESUME, Resume, ToDaemon)                                              \
  X(SYNC, Sync, ToClient)                                                  \
  X(BYE, Bye, Both)                                                        \
  X(SUBSCRIBE, Subscribe, ToDaemon)                                        \
  X(UNSUBSCRIBE, Unsubscribe, ToDaemon)                                    \
  X(STATE, State, Both)                                                    \
  X(SYNC_SNAPSHOT, SyncSnapshot, Both)                                     \
  X(SYNC_DELTA, SyncDelta, Both)                                           \
  X(LOG, Log, ToDaemon)                                                    \
  X(SHADOW_BIND, ShadowBind, ToDaemon)                                     \
  X(SHADOW_UNBIND, ShadowUnbind, ToDaemon)                                 \
  X(CHANNEL_JOIN, ChannelJoin, Both)                                       \
  X(CHANNEL_LEAVE, ChannelLeave, Both)                                     \
  X(CHANNEL_MESSAGE, ChannelMessage, Both)                                 \
  X(CHANNEL_INFO, ChannelInfo, Both)                                       \
  X(CHANNEL_MEMBERS, ChannelMembers, Both)                                 \
  X(CHANNEL_TYPING, ChannelTyping, Both)                                   \
  X(PROPOSAL_CREATE, ProposalCreate, ToDaemon)                             \
  X(VOTE, Vote, ToDaemon)                                                  \
  X(SPAWN, Spawn, ToDaemon)                                                \
  X(SPAWN_RESULT, SpawnResult, ToClient)                                   \
  X(RELEASE, Release, ToDaemon)                                            \
  X(RELEASE_RESULT, ReleaseResult, ToClient)                               \
  X(SEND_INPUT, SendInput, ToDaemon)                                       \
  X(SEND_INPUT_RESULT, SendInputResult, ToClient)                          \
  X(SET_MODEL, SetModel, ToDaemon)                                         \
  X(SET_MODEL_RESULT, SetModelResult, ToClient)                            \
  X(LIST_WORKERS, ListWorkers, ToDaemon)                                   \
  X(LIST_WORKERS_RESULT, ListWorkersResult, ToClient)                      \
  X(AGENT_READY, AgentReady, ToClient)                                     \
  X(STATUS, Status, ToDaemon)                                              \
  X(STATUS_RESPONSE, StatusResponse, ToClient)                             \
  X(INBOX, Inbox, ToDaemon)                                                \
  X(INBOX_RESPONSE, InboxResponse, ToClient)                               \
  X(MESSAGES_QUERY, MessagesQuery, ToDaemon)                               \
  X(MESSAGES_RESPONSE, MessagesResponse, ToClient)                         \
  X(LIST_AGENTS, ListAgents, ToDaemon)                                     \
  X(LIST_AGENTS_RESPONSE, ListAgentsResponse, ToClient)                    \
  X(LIST_CONNECTED_AGENTS, ListConnectedAgents, ToDaemon)                  \
  X(LIST_CONNECTED_AGENTS_RESPONSE, ListConnectedAgentsResponse, ToClient) \
  X(REMOVE_AGENT, RemoveAgent, ToDaemon)                                   \
  X(REMOVE_AGENT_RESPONSE, RemoveAgentResponse, ToClient)                  \
  X(HEALTH, Health, ToDaemon)                                              \
  X(HEALTH_RESPONSE, HealthResponse, ToClient)                             \
  X(METRICS, Metrics, ToDaemon)                                            \
  X(METRICS_RESPONSE, MetricsResponse, ToClient)                           \
  X(RECEIPT, Receipt, Both)                                                \
  X(SESSION_STATE, SessionState, ToDaemon)                                 \
  X(EVENTS_SUBSCRIBE, EventsSubscribe, ToDaemon)                           \
  X(EVENTS_UNSUBSCRIBE, EventsUnsubscribe, ToDaemon)                       \
  X(AGENT_EVENT, AgentEvent, Both)                                         \
  X(EVENTS_QUERY, EventsQuery, ToDaemon)                                   \
  X(EVENTS_RESPONSE, EventsResponse, ToClient)                             \
  X(USAGE_QUERY, UsageQuery, ToDaemon)                                     \
  X(USAGE_RESPONSE, UsageResponse, ToClient)                               \
  X(SESSION_QUERY, SessionQuery, ToDaemon)                                 \
  X(SESSION_RESPONSE, SessionResponse, ToClient)                           \
  X(TRACE, Trace, ToDaemon)                                                \
  X(TRACE_RESPONSE, TraceResponse, ToClient)                               \
  X(CONTROL, Control, ToDaemon)                                            \
  X(CONTROL_RESULT, ControlResult, ToClient)                               \
  X(PAUSE, Pause, ToClient)                                                \
  X(CANCEL, Cancel, ToClient)                                              \
  X(DEAD, Dead, ToDaemon)                                                  \
  X(DEAD_RESPONSE, DeadResponse, ToClient)                                 \
  X(LOOPS, Loops, ToDaemon)                                                \
  X(LOOPS_RESPONSE, LoopsResponse, ToClient)                               \
  X(CHANNELS, Channels, ToDaemon)                                          \
  X(CHANNELS_RESPONSE, ChannelsResponse, ToClient)                         \
  X(TOPICS, Topics, ToDaemon)                                              \
  X(TOPICS_RESPONSE, TopicsResponse, ToClient)                             \
  X(SHADOWS, Shadows, ToDaemon)                                            \
  X(SHADOWS_RESPONSE, ShadowsResponse, ToClient)                           \
  X(PROMPTS, Prompts, ToDaemon)                                            \
  X(PROMPTS_RESPONSE, PromptsResponse, ToClient)                           \
  X(ANSWER, Answer, ToDaemon)                                              \
  X(ANSWER_RESULT, AnswerResult, ToClient)                                 \
  X(WORKSPACE_OPEN, WorkspaceOpen, ToDaemon)                               \
  X(WORKSPACE_CLOSE, WorkspaceClose, ToDaemon)                             \
  X(WORKSPACE_LIST, WorkspaceList, ToDaemon)                               \
  X(WORKSPACE_RESPONSE, WorkspaceResponse, ToClient)                       \
  X(SHUTDOWN, Shutdown, ToDaemon)

enum class MessageType : std::uint8_t {
#define RELAY_ENUMERATOR(name, enumerator, direction) enumerator,
  RELAY_MESSAGE_TYPES(RELAY_ENUMERATOR)
#undef RELAY_ENUMERATOR
};

std::string_view name_of(MessageType type);
std::optional<MessageType> parse_message_type(std::string_view name);
Direction direction_of(MessageType type);

}  // namespace relay::protocol
