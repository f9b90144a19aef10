/// Sends one message to the daemon and waits for its result.
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

/// The proof to wait for before `send` returns.
enum class WaitFor { Stored, Accepted, Delivered, Seen, Answered };

struct SendRequest {
  std::string from, to, text;
  std::string kind = "message";
  std::string topic, thread;                   // may be empty
  std::string reply_to;                        // the id of the message it answers; may be empty
  std::string claim_token;                     // for a name in use here; empty: none
  std::string id;                              // chosen by the sender; empty: a generated one
  std::optional<protocol::DeliveryMode> mode;  // none: on-idle
  bool urgent = false;
  std::optional<Millis> ttl;  // it expires after this time
  WallMs deadline = 0;        // it expires at this time; 0: never
  std::vector<Attachment> attachments;
  WaitFor until = WaitFor::Stored;
  Millis timeout{0};  // for that proof; unused for Stored
};

struct SendResult {
  /// Duplicate: its delivery history has the rest (duplicate.h). Unprovable: the recipient's session can never give the
  /// requested proof.
  enum class Kind { Reached, Failed, TimedOut, Refused, Duplicate, Unprovable };
  Kind kind = Kind::Reached;
  std::string id = {};                           // for `trace` and `read`; empty when the daemon sent none
  std::optional<std::uint64_t> recipients = {};  // their number, when the daemon sent it
  std::string pending_reason = {};               // of a connected recipient
  WallMs offline_since = 0;                      // of an offline recipient; 0: it is connected, or there are several
  std::vector<protocol::Receipt> steps = {};     // the receipts, in order
  std::string proves = {};                       // the strongest proof its session can give, when the daemon sent it
  std::string answer = {}, answer_id = {};       // of Answered; the id may be empty
  std::string matched_by = {};                   // how the answer was recognized: reply, thread, only-request
  std::string reason = {};                       // of Failed; of TimedOut when the cause is not the timeout
  ExitCode code = ExitCode::Failed;              // of TimedOut: timeout, interrupt or lost daemon
  protocol::Nack refusal = {};                   // of Refused
  bool duplicate = false;                        // it was sent before under the same id
  std::string state = {};                        // of its newest delivery, when it is a duplicate
};

/// Adds a receipt to `result`. Returns whether the wait is over.
bool record_step(SendResult& result, WaitFor until, protocol::Receipt step);

/// Calls `on_progress` with every update once the message is stored. An error means that the daemon did not respond;
/// then the message may or may not be stored.
Result<SendResult> send(DaemonConnection& connection, SendRequest request,
                        const std::function<void(const SendResult&)>& on_progress);

}  // namespace relay::cli
