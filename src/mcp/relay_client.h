/// The way to the relay, as the tools see it: somebody's mail, and questions to the daemon.
///
/// Why an interface: inside a wrapped agent the host holds the mail (wrapped_agent.h); elsewhere this program is a session
///   of its own (own_session.h). Who it speaks for is decided before it is made and never by a tool's argument.
/// Invariants: each callback runs exactly once, at once or later, unless the Post is destroyed first. What was taken is
///   reported to its sender as delivered, with the proof `seen`, and never handed out again.
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

/// What somebody wrote to us.
struct InboxMessage {
  std::string id, from, body;
  std::string to = {};        // as it was addressed: `*` or #channel; empty: to us alone
  std::string thread = {};    // may be empty
  std::string kind = {};      // empty: an ordinary message
  std::string topic = {};     // may be empty
  std::string reply_to = {};  // the message it answers; may be empty
  std::optional<std::int64_t> importance = {};
  std::string mode = {};  // as wished by the sender; may be empty
  std::size_t bytes = 0;  // of the whole body, when only its beginning is here
  bool quiet = false;     // of a kind that wakes nobody
  std::vector<commands::AttachedFile> files = {};
  bool answer_expected = false;  // its sender waits
  bool as_user = false;          // it has the user's authority

  /// Does it end a wait? What is held until somebody fetches it is no reason to stop waiting.
  [[nodiscard]] bool wakes() const { return !quiet && !held(); }
  [[nodiscard]] bool held() const { return mode == protocol::name_of(protocol::DeliveryMode::Manual); }
};

struct InboxPage {
  std::vector<InboxMessage> letters;
  bool more = false;    // than these wait
  bool paused = false;  // a person holds them back from whoever does not ask
};
using OnMail = std::move_only_function<void(Result<InboxPage>)>;

/// Which letters, and whether they are taken or only shown.
struct InboxQuery {
  bool take = false;
  std::size_t limit = 0;
  std::vector<std::string> ids = {};  // only these; empty: the oldest ones
};

struct SendResult {
  std::string id = {};                           // under which `trace` and `read` find it; empty while it is only kept
  std::optional<std::uint64_t> recipients = {};  // how many it goes to, when the daemon said so
  bool spooled = false;                          // on our own disk, until the daemon is back
};
using OnSent = std::move_only_function<void(Result<SendResult>)>;
using OnReply = std::move_only_function<void(Result<json::object>)>;

/// Who we are and how well we are connected.
struct ClientStatus {
  std::string name;
  std::string session;     // `wrapped agent` or `own session`
  std::size_t unsent = 0;  // kept until the daemon is back
};

class RelayClientListener {
 public:
  virtual ~RelayClientListener() = default;
  /// A letter came, or may have come.
  virtual void on_message_available() = 0;
  /// Nobody will tell of letters until the next question is answered.
  virtual void on_mail_unknown(const std::string& why) = 0;
};

class RelayClient {
 public:
  virtual ~RelayClient() = default;
  virtual void start(RelayClientListener& listener) = 0;
  [[nodiscard]] virtual ClientStatus standing() const = 0;
  /// The idempotency key of the message, when it has one, names it towards the caller.
  virtual void send(protocol::OutgoingSend message, OnSent on_sent) = 0;
  virtual void inbox(InboxQuery wish, OnMail on_mail) = 0;
  /// A question to the daemon, answered by the payload of its answer.
  virtual void ask(protocol::MessageType type, std::string payload, Millis timeout, OnReply on_reply) = 0;
};

/// Empty when it has none.
std::string key_of(const protocol::OutgoingSend& message);
/// Tells one message from another under the same key.
std::string fingerprint_of(std::string_view to, std::string_view payload);
/// The answer to a key that stands for another message.
Failure key_is_taken(std::string_view key);

}  // namespace relay::mcp
