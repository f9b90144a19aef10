/// What a program implements to take part as an agent: receive a message, be released.
///
/// Everything else has a default. SessionRunner calls these; none of them blocks, since they run between everything else
/// that the loop does.
/// Threading: loop thread only. A program with threads of its own answers through `EventLoop::post`.
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

/// What became of a message. Called once, inside `receive_message` or later; a second call, or one after the release, is
/// ignored.
using ReceiptCallback = std::move_only_function<void(MessageReceipt)>;

class AgentSession {
 public:
  virtual ~AgentSession() = default;

  [[nodiscard]] virtual AgentIdentity identity() const = 0;
  [[nodiscard]] virtual AgentSessionCapabilities capabilities() const = 0;

  /// A message, once for each attempt of a delivery; `context.id` is the same at every attempt. An exception counts as
  /// failed and retryable. While no answer comes the message is not brought again; whoever needs long answers `accepted`,
  /// and tells the end by `SessionRunner::report`.
  virtual void receive_message(const RelayMessage& message, const MessageContext& context, ReceiptCallback answer) = 0;
  /// The last call: no message will come any more.
  virtual void release(const std::string& reason) = 0;

  /// What became of something this session sent: a step or the end of one delivery, or the relay's refusal.
  virtual void on_receipt(const MessageReceipt& receipt) { (void)receipt; }
  /// Something this session sent is durable; its recipient may be away (`offline_since`).
  virtual void on_stored(const protocol::Ack& ack) { (void)ack; }

  /// Of a delivery that was accepted and not ended: somebody wants it at another moment, or not at all.
  virtual void on_moved(const std::string& delivery_id, protocol::DeliveryMode mode) { (void)delivery_id, (void)mode; }
  virtual bool on_cancel(const protocol::CancelCommand& order) { return (void)order, false; }
  /// Told to sessions that can pause.
  virtual void on_pause(const protocol::PauseCommand& order) { (void)order; }

  virtual void on_connected() {}
  virtual void on_lost(const std::string& reason) { (void)reason; }
  /// Frames that nothing above is about: those of events, channels and queries the program itself asked for.
  virtual void on_frame(const protocol::Envelope& envelope) { (void)envelope; }
};

}  // namespace relay::session
