/// A delivery and its text for the agent: one line, or a line that names a file when the text is long, then lines for
/// attached files.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/link.h"
#include "commands/injected_message.h"
#include "host/delivery/injection.h"
#include "host/delivery/message_files.h"
#include "protocol/send.h"

namespace relay::host {

inline constexpr Millis kReasonReportDelay{1'000};  // after which a new reason is reported; doubles with each
inline constexpr int kMaxReasonDoublings = 6;
inline constexpr int kMaxReportedReasons = 64;  // of one message
inline constexpr Millis kMaxRecheckDelay{24 * 3'600'000};

struct Delivery {
  client::DeliveryRef ref = {};  // without an id: a notice of the relay or a text of the user
  std::string from = {};
  std::string message = {};  // the id that users see
  std::string to = {};       // the original recipient, when it was not this agent alone
  std::string text = {};     // for the agent
  std::string body = {};     // as sent; `text` instead when it is long
  std::string thread = {};
  std::string kind = {};      // empty: an ordinary message
  std::string topic = {};     // may be empty
  std::string reply_to = {};  // the message it replies to; may be empty
  std::optional<std::int64_t> importance = {};
  std::vector<commands::AttachedFile> files = {};
  bool answer_expected = false;  // its sender expects an answer
  bool as_user = false;          // it has the user's authority
  protocol::DeliveryMode mode = protocol::DeliveryMode::OnIdle;
  bool silent = false;      // does not wake the agent: delivered with one that does
  bool typed_only = false;  // its native interface failed
  SteadyTime not_before{};  // the next attempt, after a failed one
  std::optional<WallMs> expires_at = {};
  WallMs deadline = 0;  // of the message; 0: none
  Injection injection;
  std::string reason = {};           // why it is pending
  std::string reported_reason = {};  // the last reason that was reported
  SteadyTime reason_since{};         // since when `reason` holds
  int reported_reasons = 0;
  bool written = false;                                   // "written" was reported
  std::optional<protocol::Receipt> seen = {};             // the receipt, once the transcript shows it
  std::vector<Delivery> bundled = {};                     // silent deliveries that are typed with it
  std::string pasted = {};                                // the typed text, with theirs
  std::move_only_function<void(Result<void>)> done = {};  // for a text of the user
  SteadyTime give_up_at = SteadyTime::max();
};

/// The key in the intent log. A deliberate second attempt has its own key.
std::string intent_key(const Delivery& delivery);

/// The receipt of a delivery via that interface which `source` (a transcript, hook or server) shows under that id.
protocol::Receipt seen_receipt(std::string_view via, std::string_view source, std::string_view id, std::string reason);

/// A message as sent.
struct IncomingMessage {
  std::string from = {}, id = {}, to = {}, thread = {}, body = {};
  std::string kind = {}, topic = {}, reply_to = {};  // an ordinary message has no kind
  bool silent = false;                               // of a kind that does not wake the agent
  bool answer_expected = false;                      // its sender expects an answer
  bool as_user = false;                              // it has the user's authority
  std::vector<commands::AttachedFile> files = {};
  std::optional<std::int64_t> importance = {};
  std::optional<WallMs> expires_at = {};
  WallMs deadline = 0;  // 0: none
  protocol::DeliveryMode mode = protocol::DeliveryMode::OnIdle;
};
IncomingMessage parse_incoming(const client::IncomingMessage& incoming);

/// The receipt of a delivery that expired before it reached the agent.
protocol::Receipt expired_receipt(const Delivery& delivery);

/// When to check for expiry; at most kMaxRecheckDelay ahead.
std::optional<SteadyTime> expiry_of(const Delivery& delivery, SteadyTime now, WallMs wall);

/// The delivery is pending for that reason from now on.
void set_reason(Delivery& delivery, std::string_view reason, SteadyTime now);
/// True when the reason must be reported now; it then counts as reported. The first reason is reported at once, a later
/// one after it has lasted: a screen that changes with every key must not fill the delivery history.
bool should_report_reason(Delivery& delivery, SteadyTime now);
/// When to call `should_report_reason` again if the reason does not change.
std::optional<SteadyTime> reason_due(const Delivery& delivery);

/// The pending reason for users.
std::string_view displayed_reason(const Delivery& delivery);

/// The response to a fetch: as many messages as requested (no ids: any) that fit a frame.
struct FetchResult {
  std::vector<std::string> messages;  // JSON objects
  std::vector<std::string> ids;       // of these
  bool more = false;                  // other messages could be fetched too
};
FetchResult fetch_page(const std::vector<const Delivery*>& deliveries, std::size_t limit,
                       const std::vector<std::string>& ids);

/// A text of at most `max_bytes`. A longer one is written to a file of `long_texts`; the agent gets its start and the
/// path, or the command that prints the message if the file cannot be written. The same applies to attached files.
std::string text_for_agent(const IncomingMessage& message, std::size_t max_bytes, MessageFiles& long_texts);

}  // namespace relay::host
