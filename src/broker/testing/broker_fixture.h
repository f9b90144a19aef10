/// A BrokerHarness with what clients do: join, send messages, acknowledge and send requests.
///
/// `more` is always JSON of more members, e.g. `"topic":"chat"`.
#pragma once

#include <string>

#include "broker/testing/broker_harness.h"
#include "broker/testing/frames.h"

namespace relay::broker::testing {

class BrokerFixture : public BrokerHarness {
 public:
  explicit BrokerFixture(BrokerLimits limits = {}) : BrokerHarness{limits} {}

  // HELLO, with `more` members of its payload.
  void hello(ConnectionId id, const std::string& name, std::string more = {});
  ConnectionId join(const std::string& name, const std::string& more = {});
  ConnectionId join_from(protocol::PeerOrigin origin, const std::string& name, const std::string& more = {});
  /// A client of our library: it receives an ACK or NACK for each SEND.
  ConnectionId join_with_acks(const std::string& name, const std::string& more = {});
  /// A client whose message ids are numbers of its outbox: `e-1`, `e-2`, …
  ConnectionId join_with_outbox(const std::string& name);
  /// The command line: it sends requests and messages, and receives no deliveries.
  ConnectionId join_user();

  // Messages.
  /// SEND, with `more` members of the frame.
  void send(ConnectionId from, const std::string& id, const std::string& to, const std::string& body,
            const std::string& more = {});
  /// SEND with these members of the payload.
  void send_payload(ConnectionId from, const std::string& id, const std::string& to, const std::string& members,
                    const std::string& more = {});
  void ack(ConnectionId from, const Frame& deliver);
  /// AGENT_EVENT of a session.
  void send_event(ConnectionId from, const std::string& id, const std::string& event);
  /// RECEIPT of a session: its members beside `deliveryId`, e.g. `"status":"accepted"`.
  void send_receipt(ConnectionId from, const std::string& delivery, const std::string& members);

  // Requests.
  void request(ConnectionId from, const std::string& type, const std::string& payload = "{}",
               const std::string& id = "q1");
  /// Sends a request; returns the payload of its response. Earlier frames to `by` are dropped.
  Frame response(ConnectionId by, const std::string& type, const std::string& params = "{}");
  /// Sends CONTROL with these members; returns the payload of its response. Other frames to `by` are dropped.
  Frame control(ConnectionId by, const std::string& members);
  /// SUBSCRIBE to a topic.
  void subscribe(ConnectionId from, const std::string& topic);
  void report_state(ConnectionId from, const std::string& state, const std::string& more = {});
  /// Answers a heartbeat.
  void pong(ConnectionId from) { request(from, "PONG", R"({"nonce":"x"})"); }
};

/// The resume token of the WELCOME among the frames of a connection; takes them all.
std::string token_of(BrokerFixture& fixture, ConnectionId id);

}  // namespace relay::broker::testing
