/// The durable rows of a workspace, as values.
///
/// The broker changes them and the store saves them; neither depends on the other. These types are all they share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "protocol/control.h"
#include "protocol/hello.h"
#include "protocol/names.h"
#include "protocol/send.h"

namespace relay::records {

/// The `session` of messages from the user: from a shell, the dashboard or the HTTP API. Ids of sessions start with
/// `s-`.
inline constexpr std::string_view kUserSession = "user";

struct Message {
  Key key;
  std::string id;  // chosen by the sender
  WallMs ts = 0;   // when the daemon accepted it
  AgentName from;
  std::string to;  // as addressed: a name, `*`, `#channel`
  Topic topic;
  std::string kind;
  std::string thread;
  std::string payload;       // raw JSON as received
  std::string payload_meta;  // raw JSON as received, or empty
  SessionId session;         // the sender's; kUserSession; empty for another SEND without HELLO

  /// Whether it has the user's authority instead of a peer's.
  [[nodiscard]] bool as_user() const { return session.value() == kUserSession; }
};

enum class DeliveryState : std::uint8_t {
  Queued,    // durable, not accepted by a session yet
  Accepted,  // the session's side took responsibility
  Delivered,
  Deferred,
  Failed,
  Expired,
  Cancelled,
  InDoubt,
  Dead,
};
std::string_view name_of(DeliveryState state);

/// Whether the delivery changes no more on its own.
constexpr bool is_final(DeliveryState state) {
  return state != DeliveryState::Queued && state != DeliveryState::Accepted && state != DeliveryState::Deferred;
}

enum class Proof : std::uint8_t { Stored, Accepted, Written, Submitted, Seen };
std::string_view name_of(Proof proof);

/// The final state of an expired delivery: one that was already written may have arrived.
constexpr DeliveryState state_on_expiry(Proof proof) {
  return proof >= Proof::Written ? DeliveryState::InDoubt : DeliveryState::Expired;
}

/// The state after a cancellation without its session: after Written the agent may have it.
constexpr DeliveryState state_on_cancel(Proof proof) {
  return proof >= Proof::Written ? DeliveryState::InDoubt : DeliveryState::Cancelled;
}

/// The frame that carries a delivery, and the data that is spliced into it.
enum class FrameKind : std::uint8_t { Deliver, ChannelMessage, ShadowIncoming, ShadowOutgoing, ShadowTrigger };

/// Why a delivery is held although its lane may be open.
enum class Hold : std::uint8_t {
  None,
  Time,    // until available_at: it failed, or its session returned it
  Policy,  // the recipient's policy, until the user releases it
};

/// One message for one recipient.
struct Delivery {
  Key key;  // gives the wire id
  Key message;
  AgentName from;  // the sender of the message
  AgentName to;
  protocol::Lane lane;
  Key rank;  // its position in the queue of (to, lane, from): the key, or a later one after a requeue
  Seq seq;   // within the stream (topic, from → to, lane); a new one after a requeue
  FrameKind frame_kind = FrameKind::Deliver;
  std::string shadow_of;  // of a shadow copy: the primary
  DeliveryState state = DeliveryState::Queued;
  Proof proof = Proof::Stored;
  WallMs expires_at = 0;        // always set: the ttl, the deadline, or the retention age
  bool queued_offline = false;  // the recipient was offline when it was accepted
  Hold hold = Hold::None;
  WallMs available_at = 0;     // with Hold::Time: not before
  std::uint32_t attempts = 0;  // the number of failures
};

/// One entry of a delivery's history.
struct HistoryEntry {
  WallMs at = 0;
  DeliveryState state{};
  Proof proof{};
  std::string reason = {};
  std::string via = {};       // the interface it went through
  std::string evidence = {};  // what the proof rests on
};

struct Stream {
  Topic topic;
  AgentName from;
  AgentName to;
  protocol::Lane lane;
  Seq last;   // the newest assigned number
  Seq acked;  // the highest number the recipient has acknowledged
};

struct Agent {
  AgentName name;
  protocol::EntityType entity = protocol::EntityType::Agent;
  std::string cli, program, model, task, working_directory, team, display_name, avatar_url;
  std::string claim_hash;  // SHA-256 of the claim token, hex; empty when the name is unclaimed
  WallMs first_seen = 0;
  WallMs last_seen = 0;
  bool paused = false;  // by the user: nothing is delivered
  std::string pause_reason;
  std::vector<protocol::DeliveryPolicyRule> policy;  // whose messages it accepts
};

struct ShadowBinding {
  AgentName primary;
  std::vector<std::string> speak_on;
  bool incoming = true;
  bool outgoing = true;
};

struct Session {
  SessionId id;
  AgentName agent;
  std::string token_hash;  // SHA-256 of the resume token, hex
  protocol::Capabilities capabilities;
  WallMs started = 0;
  WallMs last_seen = 0;
  WallMs ended = 0;  // 0 while it may still be resumed
  std::vector<std::string> topics;
  std::vector<ShadowBinding> shadows;
};

struct Membership {
  std::string channel;
  AgentName member;
};

/// The progress of one durable outbox: every number up to `high` was answered.
struct OutboxMark {
  AgentName sender;
  std::string epoch;
  std::uint64_t high = 0;
  std::vector<std::uint64_t> refused;  // numbers up to `high` that were refused for good, newest last, bounded
  WallMs updated = 0;
};

/// Outbox marks detect duplicates without a time limit. A mark that is unused this long (and past the retention age)
/// has no outbox any more.
inline constexpr WallMs kOutboxMarkRetentionMs = 90LL * 24 * 3600 * 1000;

struct Vote {
  AgentName voter;
  std::string choice;  // approve, reject, abstain
  std::string reason;
};

struct Proposal {
  std::string id;
  std::string title, description, type;
  AgentName proposer;
  std::vector<AgentName> participants;
  std::vector<Vote> votes;
  std::string thread;
  WallMs created = 0;
  WallMs expires_at = 0;
  std::uint32_t quorum = 0;  // 0: half of the participants, rounded up
  double threshold = 0.67;
  std::string outcome;  // empty while open
};

}  // namespace relay::records
