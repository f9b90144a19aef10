/// Queries about messages, answered by the store: INBOX, MESSAGES_QUERY, TRACE, DEAD.
/// Threading: the broker's.
#pragma once

#include "broker/agents.h"
#include "broker/store_queries.h"
#include "protocol/envelope.h"
#include "text/json_writer.h"

namespace relay::broker {

class MessageQueries {
 public:
  MessageQueries(Connections& connections, const Agents& agents, ClientRequests& requests, StoreQueries& queries)
      : connections_{connections}, agents_{agents}, requests_{requests}, queries_{queries} {}

  void on_inbox(ConnectionState& connection, const protocol::Envelope& envelope);
  void on_messages_query(ConnectionState& connection, const protocol::Envelope& envelope);
  void on_trace(ConnectionState& connection, const protocol::Envelope& envelope);
  void on_dead(ConnectionState& connection, const protocol::Envelope& envelope);

 private:
  [[nodiscard]] std::string trace_payload(const records::Trace& trace) const;
  void write_delivery(text::JsonWriter& out, const records::TraceEntry& entry) const;

  Connections& connections_;
  const Agents& agents_;
  ClientRequests& requests_;
  StoreQueries& queries_;
};

/// The states of undelivered deliveries among these names.
std::vector<records::DeliveryState> parse_dead_states(const std::vector<std::string>& names);

}  // namespace relay::broker
