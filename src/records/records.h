/// What is durable, as values: the rows of a workspace.
///
/// The broker decides about them, the store keeps them, neither knows the other; these types are what they share.
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

/// Who said what to whom. Written once, never changed.
/// In place of a session: the user's own words, from a shell, the dashboard or the HTTP API. Ids of sessions begin
///   `s-`.
inline constexpr std::string_view kUserSession = "user";

struct Message {
  Key key;
  std::string id;  // as the sender named it
  WallMs ts = 0;   // when the daemon took it
  AgentName from;
  std::string to;  // as addressed: a name, `*`, `#channel`
  Topic topic;
  std::string kind;
  std::string thread;
  std::string payload;       // raw JSON as it came
  std::string payload_meta;  // raw JSON as it came, or empty
  SessionId session;         // the sender's; kUserSession; empty for another SEND without HELLO

  /// Does it have the user's authority? Otherwise a peer's.
  [[nodiscard]] bool as_user() const { return session.value() == kUserSession; }
};

enum class DeliveryState : std::uint8_t {
  Queued,    // durable, nobody has taken charge yet
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

/// Will nothing further happen by itself?
constexpr bool is_final(DeliveryState state) {
  return state != DeliveryState::Queued && state != DeliveryState::Accepted && state != DeliveryState::Deferred;
}

enum class Proof : std::uint8_t { Stored, Accepted, Written, Submitted, Seen };
std::string_view name_of(Proof proof);

/// What becomes of a delivery whose time is over: what was written may have arrived.
constexpr DeliveryState state_on_expiry(Proof proof) {
  return proof >= Proof::Written ? DeliveryState::InDoubt : DeliveryState::Expired;
}

/// Which frame carries it, and what is spliced into its data on the way.
enum class FrameKind : std::uint8_t { Deliver, ChannelMessage, ShadowIncoming, ShadowOutgoing, ShadowTrigger };

/// Why a delivery does not go although its lane may be open.
enum class Hold : std::uint8_t {
  None,
  Time,    // until available_at: tried in vain, or given back by its session
  Policy,  // of the recipient, until somebody lets it go
};

/// One message on its way to one agent.
struct Delivery {
  Key key;  // makes the wire id
  Key message;
  AgentName from;  // the message's
  AgentName to;
  protocol::Lane lane;
  Key rank;  // its place in the queue of (to, lane, from): the key, or a later one when it was put back
  Seq seq;   // within the stream (topic, from → to, lane); a new one when it was put back
  FrameKind frame_kind = FrameKind::Deliver;
  std::string shadow_of;  // for the shadow carriages: the primary
  DeliveryState state = DeliveryState::Queued;
  Proof proof = Proof::Stored;
  WallMs expires_at = 0;        // always set: the ttl, the deadline, or the retention age
  bool queued_offline = false;  // the recipient was away when it was accepted
  Hold hold = Hold::None;
  WallMs available_at = 0;     // with Hold::Time: not before
  std::uint32_t attempts = 0;  // how often it failed
};

/// One line of a delivery's ledger.
struct HistoryEntry {
  WallMs at = 0;
  DeliveryState state{};
  Proof proof{};
  std::string reason = {};
  std::string via = {};       // by which it went
  std::string evidence = {};  // what shows it
};

struct Stream {
  Topic topic;
  AgentName from;
  AgentName to;
  protocol::Lane lane;
  Seq last;   // the newest number given out
  Seq acked;  // the highest number the recipient has acknowledged
};

struct Agent {
  AgentName name;
  protocol::EntityType entity = protocol::EntityType::Agent;
  std::string cli, program, model, task, working_directory, team, display_name, avatar_url;
  std::string claim_hash;  // SHA-256 of the claim token, hex; empty when nobody claimed the name
  WallMs first_seen = 0;
  WallMs last_seen = 0;
  bool paused = false;  // by a person: nothing reaches it
  std::string pause_reason;
  std::vector<protocol::DeliveryPolicyRule> policy;  // whose messages it takes
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

/// How far one durable outbox has come: every number up to `high` was answered.
struct OutboxMark {
  AgentName sender;
  std::string epoch;
  std::uint64_t high = 0;
  std::vector<std::uint64_t> refused;  // those at or below `high` that were refused for good, newest last, bounded
  WallMs updated = 0;
};

/// Outbox marks keep duplicates out for ever; one that was silent this long (and past the retention age) has no
/// outbox behind it any more.
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
