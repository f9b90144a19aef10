/// Messages as the API hands them to a workspace: durable when it is answered, once, with a ledger like any other.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "api/http/api_error.h"

namespace relay::api {

struct OutgoingMessage {
  std::string id = {};  // on the wire; the same id again is the same message
  std::string from = {};
  std::string to = {};
  std::string claim_token = {};  // shows that the sender may use a name that is in use
  json::object payload = {};
  json::object meta = {};
};

class MessageSender {
 public:
  /// The payload of the ACK.
  using OnStored = std::move_only_function<void(ApiResult<json::object>)>;

  virtual ~MessageSender() = default;
  /// Called once, never inside.
  virtual void send(OutgoingMessage message, OnStored on_stored) = 0;
};

}  // namespace relay::api
