/// HELLO, WELCOME, RESUME and SYNC: how a session starts and resumes.
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

/// What a client can do. `send_ack` and `outbox` are this project's; published clients send neither.
struct Capabilities {
  bool ack = true;  // will ACK each DELIVER
  bool resume = false;
  bool supports_topics = true;
  bool send_ack = false;  // wants ACK or NACK for each SEND
  bool receipts = false;  // wants a RECEIPT when a delivery of its messages reaches a final state
  std::uint32_t max_inflight = kDefaultInflight;
  std::string outbox;                  // epoch of a durable outbox: SEND ids are then `<epoch>-<n>`, n from 1
  bool receipt_steps = false;          // wants a RECEIPT for every change of a delivery of its messages
  std::optional<DeliveryModes> modes;  // `delivery.modes`; published clients send none
  bool queue = false;                  // `delivery.queue`: accepts deliveries early and schedules them itself
  bool pause = false;                  // `lifecycle.pause`: can hold its deliveries on request
  std::string contract;  // the object as received, when it has any of these; at most kMaxCapabilitiesBytes
};

struct Hello {
  std::string agent;  // checked with check_agent_name by the parser
  Capabilities capabilities;
  EntityType entity = EntityType::Agent;
  bool system_component = false;
  std::string cli, program, model, task, working_directory, team, display_name, avatar_url;
  std::string version, permission_mode;  // of the agent CLI, in its own terms
  std::string resume_token;              // session.resume_token
  std::string claim_token;               // session.claim_token: reserves the name for its holder
  std::string system_token;  // session.system_token: the token in the daemon's home directory; sent by its own programs
  std::vector<std::string> unsettled;  // session.unsettled: its unsettled deliveries, when it resumes
  std::string state;                   // session.state: the last state of SESSION_STATE, when it resumes
};
Result<Hello> parse_hello(std::string_view payload);

struct Welcome {
  std::string_view session_id;
  std::string_view resume_token;
  std::int64_t heartbeat_ms = kHeartbeatMs;
  std::string_view store_id = {};  // when it changes, stream numbers restart
};
std::string write_welcome(const Welcome& welcome);

/// The fields of a WELCOME that a client reads.
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
