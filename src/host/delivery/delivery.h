/// A delivery as what is put before the agent: one line, or a line that points to a file when the text is long; files
/// that came with it are named below.
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

inline constexpr Millis kReasonSettle{1'000};  // another reason must last that long to be told; each one doubles it
inline constexpr int kMaxReasonDoublings = 6;
inline constexpr int kMaxReasonsTold = 64;  // of one message
inline constexpr Millis kFarAway{24 * 3'600'000};

struct Delivery {
  client::DeliveryRef ref = {};  // without an id: a word of our own
  std::string from = {};
  std::string message = {};  // its id, as people see it
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
  bool silent = false;      // it does not wake the agent: it goes with what does
  bool typed_only = false;  // its native way took nothing
  SteadyTime not_before{};  // tried and not taken: not again before
  std::optional<WallMs> expires_at = {};
  WallMs deadline = 0;  // of the message; 0: none
  Injection injection;
  std::string reason = {};           // why it waits
  std::string reported_reason = {};  // the last reason the daemon was told
  SteadyTime reason_since{};         // `reason` has held from then on
  int reasons_told = 0;
  bool written = false;                                   // and the daemon was told so
  std::optional<protocol::Receipt> seen = {};             // the agent's own record shows it
  std::vector<Delivery> bundled = {};                     // quiet ones that are typed with it
  std::string pasted = {};                                // what was typed, theirs included
  std::move_only_function<void(Result<void>)> done = {};  // of a person who types from elsewhere
  SteadyTime give_up_at = SteadyTime::max();
};

/// Under which the note of intent stands: a deliberate second attempt is no doubt about the first.
std::string intent_key(const Delivery& letter);

/// Everything that is reported of a letter that its agent's record, hook or server shows: by what it went, and what
/// shows it under which id.
protocol::Receipt seen_receipt(std::string_view way, std::string_view shown_by, std::string_view id,
                               std::string reason);

/// What was said, by whom, as the sender wrote it.
struct IncomingMessage {
  std::string from = {}, id = {}, to = {}, thread = {}, body = {};
  std::string kind = {}, topic = {}, reply_to = {};  // an ordinary message has no kind
  bool silent = false;                               // of a kind that wakes nobody
  bool answer_expected = false;                      // its sender waits
  bool as_user = false;                              // it has the user's authority
  std::vector<commands::AttachedFile> files = {};
  std::optional<std::int64_t> importance = {};
  std::optional<WallMs> expires_at = {};
  WallMs deadline = 0;  // 0: none
  protocol::DeliveryMode mode = protocol::DeliveryMode::OnIdle;
};
IncomingMessage message_of(const client::IncomingMessage& incoming);

/// The receipt of one that expired before the agent had it.
protocol::Receipt expired_receipt(const Delivery& letter);

/// When to look whether its time is over; what lies very far away is looked at before.
std::optional<SteadyTime> expiry_of(const Delivery& letter, SteadyTime now, WallMs wall);

/// It waits for that reason from now on, whoever is told.
void set_reason(Delivery& letter, std::string_view reason, SteadyTime now);
/// Is its reason to be told to the daemon now? The first one is at once, another when it has lasted: a screen that changes
/// with every key must not fill the history. Counts as told when it is.
bool should_tell_reason(Delivery& letter, SteadyTime now);
/// When to ask again, if the reason is still the same then.
std::optional<SteadyTime> reason_due(const Delivery& letter);

/// Why it waits, for whoever asks.
std::string_view reason_shown(const Delivery& letter);

/// What is shown to an agent that asks for its mail: as many as were asked for (no ids: any) and fit an answer.
struct FetchResult {
  std::vector<std::string> letters;  // JSON objects
  std::vector<std::string> ids;      // of these
  bool more = false;                 // others wait that could be taken too
};
FetchResult page_of(const std::vector<const Delivery*>& letters, std::size_t limit,
                    const std::vector<std::string>& ids);

/// At most so many bytes, whatever its sender wrote. A longer text goes to a file of `long_texts`; the agent is shown its
/// beginning and the path. When the file cannot be written it is shown the command that prints the message instead. So
/// do attached files that find no room.
std::string text_for_agent(const IncomingMessage& message, std::size_t max_bytes, MessageFiles& long_texts);

}  // namespace relay::host
