/// The values of the delivery contract: an identity, what a session can do, a message, why and when it is delivered,
/// and its state. Read from stored messages and from frames; written for clients and sessions.
///
/// `metadata` and the like are JSON objects as received, empty when absent. A MessageReceipt is the content of a
/// RECEIPT.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "protocol/delivery_mode.h"
#include "protocol/hello.h"
#include "protocol/send.h"

namespace relay::text {
class JsonWriter;
}

namespace relay::protocol {

enum class AgentKind : std::uint8_t { Agent, Human, System, Service };
std::string_view name_of(AgentKind kind);

/// The sender or a recipient of a message. Names are unique in a workspace, so the name is the id.
struct AgentIdentity {
  std::string id = {};
  std::string name = {};
  std::string handle = {};  // @name
  AgentKind kind = AgentKind::Agent;
  std::string metadata = {};

  friend bool operator==(const AgentIdentity&, const AgentIdentity&) = default;
};
AgentIdentity identity_of(std::string_view name, AgentKind kind = AgentKind::Agent);

/// What one session can do. Every session can receive and be released.
struct AgentSessionCapabilities {
  struct Messaging {
    bool send = true;
    std::vector<std::string> attachments = {};  // the kinds it accepts
  };
  struct Delivery {
    DeliveryModes modes = {};
    bool queue = false;  // accepts deliveries early and schedules them itself
  };
  struct Events {
    std::vector<std::string> emits = {"status.changed"};
  };
  struct Actions {
    bool invoke = false;
    bool expose = false;
  };
  struct Lifecycle {
    bool pause = false;
    bool resume = false;
    bool fork = false;
    bool snapshot = false;
  };
  Messaging messaging = {};
  Delivery delivery = {};
  Events events = {};
  std::optional<Actions> actions = {};
  Lifecycle lifecycle = {};
};
std::string write_session_capabilities(const AgentSessionCapabilities& capabilities);
Result<AgentSessionCapabilities> parse_session_capabilities(std::string_view object);
/// Puts the contract into the capabilities of HELLO; refused when it exceeds the limit there.
Result<void> declare(const AgentSessionCapabilities& contract, Capabilities& capabilities);
/// The contract's members of HELLO's `capabilities`; none when none was declared.
void write_contract(text::JsonWriter& writer, const Capabilities& capabilities);

enum class TargetType : std::uint8_t { Dm, Channel, Group, Thread };
std::string_view name_of(TargetType type);
struct MessageTarget {
  TargetType type = TargetType::Dm;
  std::string name = {};                 // the agent, the channel or the thread
  std::vector<std::string> agents = {};  // of a group; `*` is everyone

  friend bool operator==(const MessageTarget&, const MessageTarget&) = default;
};

/// A file that comes with a message, or another object of the sender (`object` has all its members).
struct Attachment {
  std::string name = {};
  std::string path = {};
  std::int64_t bytes = 0;
  std::string sha256 = {};
  std::string media_type = {};
  std::string object = {};

  friend bool operator==(const Attachment&, const Attachment&) = default;
};

struct RelayMessage {
  std::string id = {};  // the short id that users see
  std::string workspace_id = {};
  MessageTarget target = {};
  AgentIdentity from = {};  // kind System: the relay itself
  std::string text = {};
  std::vector<Attachment> attachments = {};
  std::vector<std::string> mentions = {};
  std::string thread = {};
  std::string metadata = {};  // the payload's data
  WallMs created_at = 0;
  bool truncated = false;  // in an event: the store has the whole message

  friend bool operator==(const RelayMessage&, const RelayMessage&) = default;
};

/// A message as it is stored or sent.
struct MessageParts {
  std::string_view id;
  std::string_view from;
  std::string_view to;  // as addressed: a name, `*`, a channel; empty: the payload's thread
  std::string_view payload;
  WallMs at = 0;
  AgentKind from_kind = AgentKind::Agent;
  std::string_view workspace_id = {};
};
/// Members of the payload with another form than this project's (such as a client's own attachments or mentions) are
/// left out: they were checked when the message was accepted, and they travel in the payload unchanged.
RelayMessage message_from(const MessageParts& parts);
std::string write_message(const RelayMessage& message);
Result<RelayMessage> parse_message(std::string_view object);

/// Why and how a message is delivered to a session. `id` is the delivery's: it stays the same for every attempt.
struct MessageContext {
  std::string id = {};
  DeliveryMode mode = DeliveryMode::OnIdle;
  DeliveryReason reason = DeliveryReason::Dm;
  Priority priority = Priority::Normal;
  WallMs deadline = 0;  // 0: none
  std::string idempotency_key = {};
  std::string metadata = {};
  std::uint32_t attempt = 1;
};
MessageContext context_from(std::string_view delivery_id, const DeliveryView& delivery, std::string_view payload_meta,
                            const RelayMessage& message, std::string_view recipient);

using MessageReceipt = Receipt;

/// The contract's five, plus queued again, and the final states that are neither delivered nor failed.
enum class DeliveryEventType : std::uint8_t {
  Created,
  Queued,
  Accepted,
  Delivered,
  Deferred,
  Failed,
  Expired,
  Cancelled,
  InDoubt,
  Dead,
};
/// Includes the prefix: `delivery.created`.
std::string_view name_of(DeliveryEventType type);
std::optional<DeliveryEventType> parse_delivery_event_type(std::string_view name);

/// One change of one delivery, with its message.
struct DeliveryEvent {
  DeliveryEventType type = DeliveryEventType::Created;
  std::string delivery_id = {};
  RelayMessage message = {};
  AgentIdentity agent = {};  // the recipient
  WallMs at = 0;
  std::string state = {}, proof = {};
  std::string reason = {};
  WallMs available_at = 0;
  bool retryable = false;
  std::string via = {}, evidence = {};
};
/// Always fits a frame: a long text is cut, long metadata and attachments are left out.
std::string write_delivery_event(const DeliveryEvent& event);
Result<DeliveryEvent> parse_delivery_event(std::string_view payload);

}  // namespace relay::protocol
