/// The relay as the tools use it: an inbox, sending, and requests to the daemon.
///
/// Why an interface: inside a hosted agent the host holds the messages (hosted_client.h); elsewhere this program has
///   its own session (standalone_client.h). The name it acts for is fixed before it is made, never by a tool argument.
/// Invariants: each callback runs exactly once, inside the call or later, unless the client is destroyed first. A
///   message that was taken is reported to its sender as delivered, with the proof `seen`, and never returned again.
/// Threading: loop thread only.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "commands/injected_message.h"
#include "protocol/message_type.h"
#include "protocol/outgoing_send.h"

namespace relay::mcp {

struct InboxMessage {
  std::string id, from, body;
  std::string to = {};        // as addressed: `*` or #channel; empty: this client alone
  std::string thread = {};    // may be empty
  std::string kind = {};      // empty: an ordinary message
  std::string topic = {};     // may be empty
  std::string reply_to = {};  // the id of the answered message; may be empty
  std::optional<std::int64_t> importance = {};
  std::string mode = {};  // the sender's delivery mode; may be empty
  std::size_t bytes = 0;  // of the whole body, when `body` is cut
  bool silent = false;    // of a kind that does not end a wait
  std::vector<commands::AttachedFile> files = {};
  bool answer_expected = false;  // its sender blocks on the answer
  bool as_user = false;          // it has the user's authority

  /// Does it end a wait? A message that is held until it is fetched does not.
  [[nodiscard]] bool wakes() const { return !silent && !held(); }
  [[nodiscard]] bool held() const { return mode == protocol::name_of(protocol::DeliveryMode::Manual); }
};

struct InboxPage {
  std::vector<InboxMessage> messages;
  bool more = false;    // are pending
  bool paused = false;  // the user paused this client: a wait does not return them
};
using OnInbox = std::move_only_function<void(Result<InboxPage>)>;

/// Which messages, and whether they are taken or only read.
struct InboxQuery {
  bool take = false;
  std::size_t limit = 0;
  std::vector<std::string> ids = {};  // only these; empty: the oldest ones
};

struct SendResult {
  std::string id = {};                           // for `trace` and `read`; empty while it is only spooled
  std::optional<std::uint64_t> recipients = {};  // as far as the daemon reported it
  bool spooled = false;                          // in the local outbox, until the daemon is online
};
using OnSent = std::move_only_function<void(Result<SendResult>)>;
using OnReply = std::move_only_function<void(Result<json::object>)>;

struct ClientStatus {
  std::string name;
  std::string session;     // `hosted` or `standalone`
  std::size_t unsent = 0;  // in the local outbox
};

class RelayClientListener {
 public:
  virtual ~RelayClientListener() = default;
  /// A message is, or may be, available.
  virtual void on_message_available() = 0;
  /// No message is announced until the next request succeeds.
  virtual void on_inbox_unavailable(const std::string& why) = 0;
};

class RelayClient {
 public:
  virtual ~RelayClient() = default;
  virtual void start(RelayClientListener& listener) = 0;
  [[nodiscard]] virtual ClientStatus status() const = 0;
  /// If the message has an idempotency key, the caller identifies it by that key.
  virtual void send(protocol::OutgoingSend message, OnSent on_sent) = 0;
  virtual void inbox(InboxQuery query, OnInbox on_inbox) = 0;
  /// A request to the daemon; its result is the payload of the response.
  virtual void request(protocol::MessageType type, std::string payload, Millis timeout, OnReply on_reply) = 0;
};

/// Empty when it has none.
std::string key_of(const protocol::OutgoingSend& message);
/// Distinguishes messages under the same key.
std::string fingerprint_of(std::string_view to, std::string_view payload);
/// The error for a key that was used for another message.
Failure key_is_taken(std::string_view key);

}  // namespace relay::mcp
