/// Blocking messages: a SEND whose sender blocks until the answer arrives, and the recognition of that answer.
///
/// An answer names the request (`replyTo`), is in its thread, or is plain: if exactly one request of the requester to
/// that agent is open, the agent's next message to the requester without thread and `replyTo`. A plain answer is stored
/// with the request's `replyTo`, so that every reader finds it. A request ends with its answer, its timeout, or its
/// requester's connection.
/// Threading: the broker's.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "broker/agents.h"
#include "broker/connections.h"
#include "broker/rejection.h"
#include "broker/send_context.h"
#include "protocol/send.h"

namespace relay::broker {

class BlockingRequests {
 public:
  BlockingRequests(Context& context, Connections& connections, Agents& agents)
      : context_{context}, connections_{connections}, agents_{agents} {}

  /// Opens the request of a blocking SEND; the result is why it cannot. A repeated SEND opens no second request.
  std::optional<Rejection> open(SendContext& sending);
  /// Sets the key of the request's message.
  void set_key(const std::string& correlation_id, Key message);
  /// A message without thread and `replyTo` gets the `replyTo` of the only open request that it can answer.
  void mark_plain_answer(const SendContext& sending, records::Message& message);
  /// The recipient has the message of a request.
  void mark_delivered(const AgentName& recipient, Key message);
  /// The message is committed. If it is an answer, its requester gets it; the result is the requester.
  std::optional<AgentName> answer_with(const records::Message& message);
  /// Published clients answer a request with an ACK that names it.
  void answer_with_ack(const ConnectionState& answering, const protocol::Ack& ack, std::string_view payload);
  /// The commit of a message failed: it is neither a request nor an answer.
  void forget(const records::Message& message);
  /// The requester's connection has closed.
  void close_all_of(const ConnectionState& requester);
  void on_timeout(const std::string& correlation_id);

 private:
  struct Request {
    ConnectionId requester;
    std::string message;  // the id of the SEND
    std::string to;       // the agent that may answer; empty: any
    SteadyTime due{};
    std::string from;
    std::string thread;      // may be empty
    Key key{};               // of the message
    bool delivered = false;  // the recipient has it
    Key answer{};            // the plain message that was recognized as its answer, until that is committed
  };
  using Table = std::map<std::string, Request>;  // by correlation id
  void close(Table::iterator request);

  Context& context_;
  Connections& connections_;
  Agents& agents_;
  Table requests_;
  std::multimap<std::string, std::string> by_recipient_;  // recipient → correlation id
};

}  // namespace relay::broker
