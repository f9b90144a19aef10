/// A delivery as what is put before the agent: one line, or a line that points to a file when the text is long.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/link.h"
#include "host/injection.h"
#include "host/long_texts.h"
#include "protocol/send.h"

namespace relay::host {

struct Letter {
  client::Place place = {};  // without an id: a word of our own
  std::string from = {};
  std::string message = {};  // its id, as people see it
  std::string to = {};       // as it was addressed, when that was not this agent alone
  std::string text = {};     // as it is put before the agent
  std::string body = {};     // as it was written; `text` in its place when it is long
  std::string thread = {};
  protocol::DeliveryMode mode = protocol::DeliveryMode::OnIdle;
  bool typed_only = false;  // its native way took nothing
  SteadyTime not_before{};  // tried and not taken: not again before
  std::optional<WallMs> expires_at = {};
  Injection injection;
  std::string reason = {};                                // why it waits
  std::string told = {};                                  // the last reason the daemon was told
  std::move_only_function<void(Result<void>)> done = {};  // of a person who types from elsewhere
  SteadyTime give_up_at = SteadyTime::max();
};

/// What was said, by whom, as the sender wrote it.
struct Message {
  std::string from = {}, id = {}, to = {}, thread = {}, body = {};
  std::optional<std::int64_t> importance = {};
  std::optional<WallMs> expires_at = {};
  protocol::DeliveryMode mode = protocol::DeliveryMode::OnIdle;
};
Message message_of(const client::Incoming& incoming);

/// A text of more than `max_paste_bytes` goes to a file of `long_texts`; the agent is shown its beginning and the path.
/// When the file cannot be written it is shown the command that prints the message instead.
/// Why it waits, for whoever asks.
std::string_view reason_shown(const Letter& letter);

/// What is shown to an agent that asks for its mail: as many as were asked for (no ids: any) and fit an answer.
struct MailOffer {
  std::vector<std::string> letters;  // JSON objects
  std::vector<std::string> ids;      // of these
  bool more = false;                 // others wait that could be taken too
};
MailOffer offered(const std::vector<const Letter*>& letters, std::size_t limit, const std::vector<std::string>& ids);

std::string text_for_agent(const Message& message, std::size_t max_paste_bytes, LongTexts& long_texts);

}  // namespace relay::host
