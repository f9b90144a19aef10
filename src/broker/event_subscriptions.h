/// Connections that follow the event log, page by page.
/// Threading: the broker's.
#pragma once

#include <algorithm>
#include <set>
#include <string>

#include "broker/store_queries.h"
#include "protocol/requests.h"

namespace relay::broker {

class EventSubscriptions {
 public:
  EventSubscriptions(Context& context, Connections& connections, ClientRequests& requests, StoreQueries& queries,
                     records::EventSeq newest)
      : context_{context}, connections_{connections}, requests_{requests}, queries_{queries}, newest_{newest} {}

  void on_subscribe(ConnectionState& connection, const protocol::Envelope& envelope);
  void on_unsubscribe(ConnectionState& connection, const protocol::Envelope& envelope);
  /// LOG: the line goes to the subscribers that request log lines, and is not stored.
  void on_log(ConnectionState& connection, const protocol::Envelope& envelope);

  /// Events up to this number are committed.
  void on_newest_event(records::EventSeq newest);
  /// A page of the log contains this event, perhaps before the result of its commit arrives.
  void raise_newest(records::EventSeq newest) { newest_ = std::max(newest_, newest); }
  /// The peer has read bytes.
  void on_written(ConnectionState& connection);
  void on_retry(ConnectionState& connection);
  void on_closed(const ConnectionState& connection) { subscribers_.erase(connection.id); }

 private:
  void send_next_page(ConnectionState& connection);
  void on_page(ConnectionState& connection, const Result<records::EventPage>& page);

  Context& context_;
  Connections& connections_;
  ClientRequests& requests_;
  StoreQueries& queries_;
  records::EventSeq newest_;  // committed
  std::set<ConnectionId> subscribers_;
};

}  // namespace relay::broker
