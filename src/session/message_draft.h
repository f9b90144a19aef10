/// A message as a session means to say it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "client/outbox.h"
#include "protocol/contract.h"

namespace relay::session {

struct MessageDraft {
  std::string to;  // a name, `*`, `#channel`
  std::string text;
  std::string thread = {};
  std::string reply_to = {};  // the id of the message it answers
  std::string kind = "message";
  std::vector<std::string> mentions = {};
  std::vector<protocol::Attachment> attachments = {};  // files: name and absolute path
  std::string metadata = {};                           // a JSON object
};

/// As SEND says it; refused with a sentence when it could not be.
Result<client::OutgoingMessage> compose(const MessageDraft& draft, const protocol::DeliveryOptions& wish);

}  // namespace relay::session
