/// Blocking messages: a SEND whose sender waits for the answer, and which message is that answer.
///
/// An answer names the request (`replyTo`), is in its thread, or is plain: when exactly one request of the asker to that
/// agent is open, the agent's next message to the asker that names nothing else. A plain answer is stored with the
/// request's `replyTo`, so that every reader finds it. A request ends with its answer, its time, or its asker's connection.
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

  /// Opens the request that a blocking SEND is, or says why not. The same SEND again is no second request.
  std::optional<Rejection> open(SendContext& sending);
  /// The message of the request has its key.
  void set_key(const std::string& correlation_id, Key message);
  /// A message without thread and `replyTo` gets the `replyTo` of the only open request that it can be the answer to.
  void mark_plain_answer(const SendContext& sending, records::Message& message);
  /// The asked agent was given the message of a request.
  void mark_given(const AgentName& asked, Key message);
  /// The message is committed. If it is an answer, its asker gets it; the result is the asker.
  std::optional<AgentName> answer_with(const records::Message& message);
  /// An ACK that names a request is an answer of published clients.
  void answer_with_ack(const ConnectionState& answering, const protocol::Ack& ack, std::string_view payload);
  /// The commit of a message failed: it is neither a request nor an answer.
  void forget(const records::Message& message);
  /// The asker's connection is gone.
  void close_all_of(const ConnectionState& asker);
  void on_timeout(const std::string& correlation_id);

 private:
  struct Request {
    ConnectionId asker;
    std::string message;  // the id of the SEND
    std::string to;       // the agent that may answer; empty: any
    SteadyTime due{};
    std::string from;
    std::string thread;  // may be empty
    Key key{};           // of the message
    bool given = false;  // the asked agent has it
    Key answer{};        // of the plain message that is taken as its answer, until that is committed
  };
  using Table = std::map<std::string, Request>;  // by correlation id
  void close(Table::iterator request);

  Context& context_;
  Connections& connections_;
  Agents& agents_;
  Table requests_;
  std::multimap<std::string, std::string> by_asked_;  // the asked agent → correlation id
};

}  // namespace relay::broker
