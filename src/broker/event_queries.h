/// Queries about events, usage and sessions: EVENTS_QUERY, USAGE_QUERY, SESSION_QUERY.
/// Threading: the broker's.
#pragma once

#include "broker/agents.h"
#include "broker/event_subscriptions.h"
#include "broker/store_queries.h"
#include "protocol/envelope.h"

namespace relay::broker {

class EventQueries {
 public:
  EventQueries(Context& context, Connections& connections, const Agents& agents, ClientRequests& requests,
               StoreQueries& queries, EventSubscriptions& subscriptions)
      : context_{context},
        connections_{connections},
        agents_{agents},
        requests_{requests},
        queries_{queries},
        subscriptions_{subscriptions} {}

  void on_events_query(ConnectionState& connection, const protocol::Envelope& envelope);
  void on_usage_query(ConnectionState& connection, const protocol::Envelope& envelope);
  void on_session_query(ConnectionState& connection, const protocol::Envelope& envelope);

 private:
  [[nodiscard]] std::string session_payload(const records::SessionRow& row) const;

  Context& context_;
  Connections& connections_;
  const Agents& agents_;
  ClientRequests& requests_;
  StoreQueries& queries_;
  EventSubscriptions& subscriptions_;
};

}  // namespace relay::broker
