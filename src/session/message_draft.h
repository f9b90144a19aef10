/// A message that an embedded session sends.
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
  std::string reply_to = {};  // the id of the answered message
  std::string kind = "message";
  std::vector<std::string> mentions = {};
  std::vector<protocol::Attachment> attachments = {};  // files: name and absolute path
  std::string metadata = {};                           // a JSON object
};

/// An error carries a protocol::NackCode.
Result<client::OutgoingMessage> encode_draft(const MessageDraft& draft, const protocol::DeliveryOptions& options);

}  // namespace relay::session
