#include "broker/frame_table.h"

#include <algorithm>
#include <array>
#include <utility>

#include "broker/broker_parts.h"

namespace relay::broker {
namespace {

using protocol::MessageType;

template <auto part, auto method>
void call(BrokerParts& parts, ConnectionState& connection, const protocol::Envelope& envelope,
          std::size_t frame_bytes) {
  if constexpr (requires { ((parts.*part).*method)(connection, envelope, frame_bytes); })
    ((parts.*part).*method)(connection, envelope, frame_bytes);
  else
    ((parts.*part).*method)(connection, envelope);
}

struct Row {
  MessageType type;
  FrameCall call;
};

using P = BrokerParts;
constexpr Row kRows[] = {
    {MessageType::Send, call<&P::router, &Router::on_send>},
    {MessageType::Ack, call<&P::receipts, &Receipts::on_ack>},
    {MessageType::Nack, call<&P::receipts, &Receipts::on_nack>},
    {MessageType::Receipt, call<&P::receipts, &Receipts::on_receipt>},
    {MessageType::Bye, call<&P::sessions, &Sessions::on_bye>},
    {MessageType::Subscribe, call<&P::channels, &Channels::on_subscribe>},
    {MessageType::Unsubscribe, call<&P::channels, &Channels::on_unsubscribe>},
    {MessageType::ChannelJoin, call<&P::channels, &Channels::on_join>},
    {MessageType::ChannelLeave, call<&P::channels, &Channels::on_leave>},
    {MessageType::ChannelMessage, call<&P::channels, &Channels::on_channel_message>},
    {MessageType::Channels, call<&P::channels, &Channels::on_channels>},
    {MessageType::Topics, call<&P::channels, &Channels::on_topics>},
    {MessageType::ShadowBind, call<&P::channels, &Channels::on_shadow_bind>},
    {MessageType::ShadowUnbind, call<&P::channels, &Channels::on_shadow_unbind>},
    {MessageType::Shadows, call<&P::channels, &Channels::on_shadows>},
    {MessageType::SessionState, call<&P::agent_events, &AgentEvents::on_session_state>},
    {MessageType::AgentEvent, call<&P::agent_events, &AgentEvents::on_agent_event>},
    {MessageType::Log, call<&P::subscriptions, &EventSubscriptions::on_log>},
    {MessageType::EventsSubscribe, call<&P::subscriptions, &EventSubscriptions::on_subscribe>},
    {MessageType::EventsUnsubscribe, call<&P::subscriptions, &EventSubscriptions::on_unsubscribe>},
    {MessageType::EventsQuery, call<&P::event_queries, &EventQueries::on_events_query>},
    {MessageType::UsageQuery, call<&P::event_queries, &EventQueries::on_usage_query>},
    {MessageType::SessionQuery, call<&P::event_queries, &EventQueries::on_session_query>},
    {MessageType::Inbox, call<&P::message_queries, &MessageQueries::on_inbox>},
    {MessageType::MessagesQuery, call<&P::message_queries, &MessageQueries::on_messages_query>},
    {MessageType::Trace, call<&P::message_queries, &MessageQueries::on_trace>},
    {MessageType::Dead, call<&P::message_queries, &MessageQueries::on_dead>},
    {MessageType::Status, call<&P::workspace_queries, &WorkspaceQueries::on_status>},
    {MessageType::ListAgents, call<&P::workspace_queries, &WorkspaceQueries::on_list_agents>},
    {MessageType::ListConnectedAgents, call<&P::workspace_queries, &WorkspaceQueries::on_list_connected_agents>},
    {MessageType::Health, call<&P::workspace_queries, &WorkspaceQueries::on_health>},
    {MessageType::Metrics, call<&P::workspace_queries, &WorkspaceQueries::on_metrics>},
    {MessageType::Loops, call<&P::workspace_queries, &WorkspaceQueries::on_loops>},
    {MessageType::RemoveAgent, call<&P::removal, &AgentRemoval::on_remove_agent>},
    {MessageType::Control, call<&P::control, &Control::on_control>},
    {MessageType::Prompts, call<&P::prompts, &Prompts::on_prompts>},
    {MessageType::Answer, call<&P::prompts, &Prompts::on_answer>},
    {MessageType::Spawn, call<&P::spawns, &SpawnApprovals::on_spawn>},
    {MessageType::Release, call<&P::workers, &Workers::on_release>},
    {MessageType::SendInput, call<&P::workers, &Workers::on_send_input>},
    {MessageType::SetModel, call<&P::workers, &Workers::on_set_model>},
    {MessageType::ListWorkers, call<&P::workers, &Workers::on_list_workers>},
};

constexpr std::size_t position(MessageType type) { return std::to_underlying(type); }

constexpr auto kCalls = [] {
  std::array<FrameCall, position(std::ranges::max(kRows, {}, &Row::type).type) + 1> calls{};
  for (const Row& row : kRows) calls[position(row.type)] = row.call;
  return calls;
}();

}  // namespace

FrameCall frame_call(MessageType type) { return position(type) < kCalls.size() ? kCalls[position(type)] : nullptr; }

}  // namespace relay::broker
