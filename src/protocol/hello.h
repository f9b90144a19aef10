/// HELLO, WELCOME, RESUME and SYNC: how a session begins and comes back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "protocol/delivery_mode.h"
#include "protocol/limits.h"
#include "protocol/names.h"

namespace relay::protocol {

enum class EntityType : std::uint8_t { Agent, User };

/// What a client says it can do. `send_ack` and `outbox` are this project's; published clients say neither.
struct Capabilities {
  bool ack = true;  // will ACK each DELIVER
  bool resume = false;
  bool supports_topics = true;
  bool send_ack = false;  // wants ACK or NACK for each SEND
  bool receipts = false;  // wants a RECEIPT when a delivery of its messages reaches a final state
  std::uint32_t max_inflight = kDefaultInflight;
  std::string outbox;                  // epoch of a durable outbox: SEND ids are then `<epoch>-<n>`, n from 1
  bool receipt_steps = false;          // wants a RECEIPT for every change of a delivery of its messages
  std::optional<DeliveryModes> modes;  // `delivery.modes`; published clients tell none
  bool queue = false;                  // `delivery.queue`: takes what waits for a moment, and finds the moment itself
  bool pause = false;                  // `lifecycle.pause`: can be told to hold what it has
  std::string contract;  // the object as it came, when it tells any of these; at most kMaxCapabilitiesBytes
};

struct Hello {
  std::string agent;  // checked with check_agent_name by the parser
  Capabilities capabilities;
  EntityType entity = EntityType::Agent;
  bool system_component = false;
  std::string cli, program, model, task, working_directory, team, display_name, avatar_url;
  std::string version, permission_mode;  // of the agent CLI, in its own words
  std::string resume_token;              // session.resume_token
  std::string claim_token;               // session.claim_token: keeps the name for whoever knows it
  std::string system_token;              // session.system_token: of the daemon's home; shown by its own programs
  std::vector<std::string> unsettled;    // session.unsettled: deliveries it still has, when it resumes
  std::string state;                     // session.state: as SESSION_STATE told it last, when it resumes
};
Result<Hello> parse_hello(std::string_view payload);

struct Welcome {
  std::string_view session_id;
  std::string_view resume_token;
  std::int64_t heartbeat_ms = kHeartbeatMs;
  std::string_view store_id = {};  // when it changes, stream numbers begin anew
};
std::string write_welcome(const Welcome& welcome);

/// What a client reads of a WELCOME (client side).
struct WelcomeView {
  std::string session_id;
  std::string resume_token;
  std::size_t max_frame_bytes = kMaxFrameBytes;
  std::int64_t heartbeat_ms = kHeartbeatMs;
  std::string store_id;
};
Result<WelcomeView> parse_welcome(std::string_view payload);

struct StreamPosition {
  std::string topic;
  std::string peer;  // empty in RESUME as published: the position then holds for every peer of the topic
  std::uint64_t last_seq = 0;
  Lane lane = {};
};

struct Resume {
  std::string session_id;
  std::string agent;
  std::string resume_token;             // optional in the specification; without it the session is not resumed
  std::vector<StreamPosition> streams;  // from `streams: {topic: {last_seq, peer?}}` or an array of the same
};
Result<Resume> parse_resume(std::string_view payload);

struct SyncStream {
  std::string_view topic;
  std::string_view peer;
  std::uint64_t last_seq = 0;
  std::uint64_t server_last_seq = 0;
  Lane lane = {};
};
std::string write_sync(std::string_view session_id, const std::vector<SyncStream>& streams);

}  // namespace relay::protocol
