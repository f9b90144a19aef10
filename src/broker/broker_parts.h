/// The parts of one broker and the references between them. A part is constructed after the parts that it uses most; a
/// constructor only stores references to later parts.
#pragma once

#include "broker/agent_events.h"
#include "broker/agent_removal.h"
#include "broker/agents.h"
#include "broker/audiences.h"
#include "broker/authority.h"
#include "broker/blocking_requests.h"
#include "broker/channels.h"
#include "broker/client_requests.h"
#include "broker/commit_budget.h"
#include "broker/commit_pipeline.h"
#include "broker/connections.h"
#include "broker/context.h"
#include "broker/control.h"
#include "broker/deliveries.h"
#include "broker/event_queries.h"
#include "broker/event_subscriptions.h"
#include "broker/expiry.h"
#include "broker/held_deliveries.h"
#include "broker/host_requests.h"
#include "broker/late_receipts.h"
#include "broker/message_queries.h"
#include "broker/one_shot_senders.h"
#include "broker/prompts.h"
#include "broker/publisher.h"
#include "broker/receipts.h"
#include "broker/router.h"
#include "broker/send_completion.h"
#include "broker/send_replies.h"
#include "broker/sender_receipts.h"
#include "broker/sessions.h"
#include "broker/settlement.h"
#include "broker/spawn_approvals.h"
#include "broker/unsupported_lanes.h"
#include "broker/voting.h"
#include "broker/workers.h"
#include "broker/workspace_queries.h"

namespace relay::broker {

struct BrokerParts final : FrameHandler {
  BrokerParts(const BrokerLimits& limits, ServerInfo info, records::WorkspaceState state, Random& random,
              Timestamp now);

  /// One frame of a connection that is not closing.
  void handle_frame(ConnectionState& connection, std::string_view frame) override;
  void on_timer(SteadyTime due, const TimerEntry& entry);

  // State that several parts use.
  Context context;
  Connections connections;
  Agents agents;
  Audiences audiences;
  Streams streams;
  ChangesDuringRead changes_during_read;
  LoopBreaker loops;
  DueTimer due_timer;

  // Commits and queries.
  CommitBudget budget;
  CommitPipeline commits;
  EventRecorder event_recorder;
  ClientRequests requests;
  StoreQueries queries;
  HostRequests hosts;

  // Deliveries.
  SenderReceipts sender_receipts;
  BlockingRequests blocking;
  DeliveryHistory history;
  Settlement settlement;
  Deliveries deliveries;
  LateReceipts late_receipts;
  Receipts receipts;
  UnsupportedLanes unsupported;
  HeldDeliveries held;
  Expiry expiry;

  // Messages.
  Authority authority;
  AgentRemoval removal;
  OneShotSenders one_shot;
  SendReplies replies;
  Publisher publisher;
  SendCompletion completion;
  Router router;
  Channels channels;
  Voting voting;

  // Sessions and what they report, workers, the user.
  EventSubscriptions subscriptions;
  Prompts prompts;
  AgentEvents agent_events;
  Sessions sessions;
  Workers workers;
  SpawnApprovals spawns;
  Control control;
  MessageQueries message_queries;
  EventQueries event_queries;
  WorkspaceQueries workspace_queries;

 private:
  void dispatch(ConnectionState& connection, const protocol::Envelope& envelope, std::string_view frame);
  void refuse_frame(ConnectionState& connection, std::string_view frame, const Error& error);
};

}  // namespace relay::broker
