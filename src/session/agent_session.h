/// The interface of a program that takes part as an agent: it receives messages and is released.
///
/// Every other function has a default. SessionRunner calls them; none may block, since they run on its event loop.
/// Threading: loop thread only. A program with other threads reports through `EventLoop::post`.
#pragma once

#include <functional>
#include <string>

#include "protocol/contract.h"
#include "protocol/control.h"
#include "protocol/envelope.h"

namespace relay::session {

using protocol::AgentIdentity;
using protocol::AgentSessionCapabilities;
using protocol::MessageContext;
using protocol::MessageReceipt;
using protocol::RelayMessage;

/// Reports the result of a message: once, inside `receive_message` or later. A second call, or one after the release,
/// is ignored.
using ReceiptCallback = std::move_only_function<void(MessageReceipt)>;

class AgentSession {
 public:
  virtual ~AgentSession() = default;

  [[nodiscard]] virtual AgentIdentity identity() const = 0;
  [[nodiscard]] virtual AgentSessionCapabilities capabilities() const = 0;

  /// A message, once for each attempt of a delivery; `context.id` is the same for every attempt. An exception counts as
  /// failed and retryable. The message is not repeated while no receipt is reported; a session that needs long reports
  /// `accepted`, and the end by `SessionRunner::report`.
  virtual void receive_message(const RelayMessage& message, const MessageContext& context, ReceiptCallback answer) = 0;
  /// The last call: no message follows.
  virtual void release(const std::string& reason) = 0;

  /// About a message that this session sent: a step or the end of one delivery, or its refusal.
  virtual void on_receipt(const MessageReceipt& receipt) { (void)receipt; }
  /// A message that this session sent is durable; its recipient may be offline (`offline_since`).
  virtual void on_stored(const protocol::Ack& ack) { (void)ack; }

  /// An accepted, unsettled delivery changed its mode, or is cancelled.
  virtual void on_moved(const std::string& delivery_id, protocol::DeliveryMode mode) { (void)delivery_id, (void)mode; }
  virtual bool on_cancel(const protocol::CancelCommand& command) { return (void)command, false; }
  /// For sessions with the capability `pause`.
  virtual void on_pause(const protocol::PauseCommand& command) { (void)command; }

  virtual void on_connected() {}
  virtual void on_lost(const std::string& reason) { (void)reason; }
  /// Every other frame: events, channels and queries that the program requested.
  virtual void on_frame(const protocol::Envelope& envelope) { (void)envelope; }
};

}  // namespace relay::session
