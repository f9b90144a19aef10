/// A delivery as the text that is put before the agent: one line, or a line that names a file when the text is long;
/// lines for attached files follow.
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

inline constexpr Millis kReasonSettle{1'000};  // another reason must last that long to be reported; each one doubles it
inline constexpr int kMaxReasonDoublings = 6;
inline constexpr int kMaxReportedReasons = 64;  // of one message
inline constexpr Millis kFarAway{24 * 3'600'000};

struct Delivery {
  client::DeliveryRef ref = {};  // without an id: a notice of the relay, or a text of the user
  std::string from = {};
  std::string message = {};  // its id, as users see it
  std::string to = {};       // as it was addressed, when that was not this agent alone
  std::string text = {};     // as it is put before the agent
  std::string body = {};     // as it was written; `text` in its place when it is long
  std::string thread = {};
  std::string kind = {};      // empty: an ordinary message
  std::string topic = {};     // may be empty
  std::string reply_to = {};  // the message it answers; may be empty
  std::optional<std::int64_t> importance = {};
  std::vector<commands::AttachedFile> files = {};
  bool answer_expected = false;  // its sender waits
  bool as_user = false;          // it has the user's authority
  protocol::DeliveryMode mode = protocol::DeliveryMode::OnIdle;
  bool silent = false;      // does not wake the agent: goes with a delivery that does
  bool typed_only = false;  // its native interface took nothing
  SteadyTime not_before{};  // tried and not taken: not again before
  std::optional<WallMs> expires_at = {};
  WallMs deadline = 0;  // of the message; 0: none
  Injection injection;
  std::string reason = {};           // why it is pending
  std::string reported_reason = {};  // the last reason that was reported
  SteadyTime reason_since{};         // `reason` has held from then on
  int reported_reasons = 0;
  bool written = false;                                   // and that was reported
  std::optional<protocol::Receipt> seen = {};             // the agent's own record shows it
  std::vector<Delivery> bundled = {};                     // silent ones that are typed with it
  std::string pasted = {};                                // what was typed, theirs included
  std::move_only_function<void(Result<void>)> done = {};  // of a text of the user
  SteadyTime give_up_at = SteadyTime::max();
};

/// Its key in the intent log. A deliberate second attempt has a key of its own.
std::string intent_key(const Delivery& delivery);

/// The receipt of a delivery that went by `via` and that `source` (a transcript, hook or server) shows under that id.
protocol::Receipt seen_receipt(std::string_view via, std::string_view source, std::string_view id, std::string reason);

/// A message as its sender wrote it.
struct IncomingMessage {
  std::string from = {}, id = {}, to = {}, thread = {}, body = {};
  std::string kind = {}, topic = {}, reply_to = {};  // an ordinary message has no kind
  bool silent = false;                               // of a kind that does not wake the agent
  bool answer_expected = false;                      // its sender waits
  bool as_user = false;                              // it has the user's authority
  std::vector<commands::AttachedFile> files = {};
  std::optional<std::int64_t> importance = {};
  std::optional<WallMs> expires_at = {};
  WallMs deadline = 0;  // 0: none
  protocol::DeliveryMode mode = protocol::DeliveryMode::OnIdle;
};
IncomingMessage message_of(const client::IncomingMessage& incoming);

/// The receipt of a delivery that expired before the agent had it.
protocol::Receipt expired_receipt(const Delivery& delivery);

/// When to check whether it has expired; at most kFarAway ahead.
std::optional<SteadyTime> expiry_of(const Delivery& delivery, SteadyTime now, WallMs wall);

/// It is pending for that reason from now on.
void set_reason(Delivery& delivery, std::string_view reason, SteadyTime now);
/// True when its reason is to be reported now, which then counts as reported. The first reason is reported at once,
/// another when it has lasted: a screen that changes with every key must not fill the delivery history.
bool should_report_reason(Delivery& delivery, SteadyTime now);
/// When to call `should_report_reason` again, if the reason is still the same then.
std::optional<SteadyTime> reason_due(const Delivery& delivery);

/// Why it is pending, for users.
std::string_view reason_shown(const Delivery& delivery);

/// The response to a fetch: as many as were requested (no ids: any) and fit a frame.
struct FetchResult {
  std::vector<std::string> messages;  // JSON objects
  std::vector<std::string> ids;       // of these
  bool more = false;                  // others could be taken too
};
FetchResult page_of(const std::vector<const Delivery*>& deliveries, std::size_t limit,
                    const std::vector<std::string>& ids);

/// At most so many bytes. A longer text is written to a file of `long_texts`; the agent gets its beginning and the
/// path. If the file cannot be written, the agent gets the command that prints the message. The same holds for attached
/// files that do not fit.
std::string text_for_agent(const IncomingMessage& message, std::size_t max_bytes, MessageFiles& long_texts);

}  // namespace relay::host
