/// One message given to the daemon, and what became of it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "cli/framework/exit_code.h"
#include "cli/send/attachments.h"
#include "cli/wire/daemon_connection.h"
#include "protocol/send.h"

namespace relay::cli {

/// How far it must have come before we return.
enum class WaitFor { Stored, Accepted, Delivered, Seen, Answered };

struct SendRequest {
  std::string from, to, text;
  std::string kind = "message";
  std::string topic, thread;                   // may be empty
  std::string reply_to;                        // the id of what it answers; may be empty
  std::string claim_token;                     // of a name that somebody here has; empty: none
  std::string id;                              // the sender's own; empty: a fresh one
  std::optional<protocol::DeliveryMode> mode;  // when it is to reach the agent's eyes; none: when it is idle
  bool urgent = false;
  std::optional<Millis> ttl;  // how long the daemon tries
  WallMs deadline = 0;        // when it is worth nothing any more; 0: never
  std::vector<Attachment> attachments;
  WaitFor until = WaitFor::Stored;
  Millis timeout{0};  // how long we wait for that; not for Stored
};

struct SendResult {
  /// Repeat: its ledger knows the rest (repeat.h). Unprovable: the recipient's session never proves what is waited for.
  enum class Kind { Reached, Undelivered, NotYet, Refused, Repeat, Unprovable };
  Kind kind = Kind::Reached;
  std::string id = {};  // under which `trace` and `read` find it; empty when the daemon did not say
  std::optional<std::uint64_t> recipients = {};  // how many it goes to, when the daemon said so
  std::string waits = {};                        // why it does not go right now, though the one it goes to is here
  WallMs offline_since = 0;                      // the one it goes to is away; 0: it is here, or there are several
  std::vector<protocol::Receipt> steps = {};     // what the recipient's side told, in order
  std::string proves = {};                       // the most its session can prove, when the daemon said so
  std::string answer = {}, answer_id = {};       // of Answered; the id may be empty
  std::string matched_by = {};                   // why that is the answer: reply, thread, only-request
  std::string reason = {};           // why it is Undelivered; of NotYet, when it is not the time that ran out
  ExitCode code = ExitCode::Failed;  // of NotYet: too late, or the daemon is gone
  protocol::Nack refusal = {};       // of Refused
  bool repeat = false;               // it was sent before, under the same id
  std::string state = {};            // of its newest delivery, when it was sent before and its ledger told
};

/// Adds what the recipient's side told to `fate`. True when its sender waited for no more.
bool is_satisfied(SendResult& fate, WaitFor until, protocol::Receipt step);

/// `on_news` is called whenever more is known than before, once it is stored.
/// An error when the daemon did not answer; then nobody knows whether it was stored.
Result<SendResult> send(DaemonConnection& connection, SendRequest letter,
                        const std::function<void(const SendResult&)>& on_news);

}  // namespace relay::cli
