/// Sends messages to a workspace. A message is durable when `on_stored` gets its ACK, and stored once.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "api/http/api_error.h"
#include "protocol/outgoing_send.h"

namespace relay::api {

struct OutgoingMessage {
  std::string id = {};  // on the wire; sending the same id again is a duplicate
  std::string from = {};
  std::string claim_token = {};  // proves that the sender may use a claimed name
  protocol::OutgoingSend send = {};
};

class MessageSender {
 public:
  /// The payload of the ACK.
  using OnStored = std::move_only_function<void(ApiResult<json::object>)>;

  virtual ~MessageSender() = default;
  /// `on_stored` is called once, never inside the call.
  virtual void send(OutgoingMessage message, OnStored on_stored) = 0;
};

}  // namespace relay::api
