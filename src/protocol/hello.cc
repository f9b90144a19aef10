#include "protocol/hello.h"

#include <algorithm>

#include "base/format.h"
#include "protocol/description_limits.h"
#include "protocol/errors.h"
#include "protocol/payload_fields.h"
#include "text/json_writer.h"
#include "text/utf8.h"

namespace relay::protocol {
namespace {

constexpr std::int64_t kMaxHeartbeatMs = 3'600'000;  // bounds the arithmetic of the client

/// The part of the capabilities that concerns deliveries (seed: AgentSessionCapabilities).
Result<void> parse_contract(std::string_view object, Capabilities& capabilities) {
  Field delivery{"delivery"}, lifecycle{"lifecycle"}, messaging{"messaging"};
  RELAY_TRY(read_fields(object, {&delivery, &lifecycle, &messaging}));
  if (!delivery.present() && !lifecycle.present() && !messaging.present()) return {};
  if (object.size() > kMaxCapabilitiesBytes)
    return fail(Errc::BadField, format("the field \"capabilities\" is longer than {} bytes", kMaxCapabilitiesBytes));
  capabilities.contract = object;
  if (const auto part = RELAY_TRY(read_object(delivery)); !part.empty()) {
    Field modes{"modes"}, queue{"queue"};
    RELAY_TRY(read_fields(part, {&modes, &queue}));
    if (modes.present()) capabilities.modes = RELAY_TRY(read_modes(modes));
    capabilities.queue = RELAY_TRY(read_bool(queue, false));
  }
  if (const auto part = RELAY_TRY(read_object(lifecycle)); !part.empty()) {
    Field release{"release"}, pause{"pause"};
    RELAY_TRY(read_fields(part, {&release, &pause}));
    if (!RELAY_TRY(read_bool(release, true)))
      return fail(Errc::BadField, "a session must be able to be released; leave \"lifecycle.release\" out or true");
    capabilities.pause = RELAY_TRY(read_bool(pause, false));
  }
  if (const auto part = RELAY_TRY(read_object(messaging)); !part.empty()) {
    Field receive{"receive"};
    RELAY_TRY(read_fields(part, {&receive}));
    if (!RELAY_TRY(read_bool(receive, true)))
      return fail(Errc::BadField, "a session must be able to receive; leave \"messaging.receive\" out or true");
  }
  return {};
}

Result<Capabilities> parse_capabilities(const Field& field) {
  Capabilities capabilities;
  const auto object = RELAY_TRY(read_object(field));
  if (object.empty()) return capabilities;
  Field ack{"ack"}, resume{"resume"}, topics{"supports_topics"}, send_ack{"send_ack"}, receipts{"receipts"},
      inflight{"max_inflight"}, outbox{"outbox"}, steps{"receipt_steps"};
  RELAY_TRY(read_fields(object, {&ack, &resume, &topics, &send_ack, &receipts, &inflight, &outbox, &steps}));
  RELAY_TRY(parse_contract(object, capabilities));
  capabilities.receipt_steps = RELAY_TRY(read_bool(steps, false));
  capabilities.ack = RELAY_TRY(read_bool(ack, capabilities.ack));
  capabilities.resume = RELAY_TRY(read_bool(resume, capabilities.resume));
  capabilities.supports_topics = RELAY_TRY(read_bool(topics, capabilities.supports_topics));
  capabilities.send_ack = RELAY_TRY(read_bool(send_ack, capabilities.send_ack));
  capabilities.receipts = RELAY_TRY(read_bool(receipts, capabilities.receipts));
  const auto wanted = RELAY_TRY(read_integer(inflight)).value_or(kDefaultInflight);
  capabilities.max_inflight = static_cast<std::uint32_t>(std::clamp<std::int64_t>(wanted, 1, kMaxInflight));
  capabilities.outbox = RELAY_TRY(read_string(outbox, kMaxOutboxBytes));
  if (text::has_control_characters(capabilities.outbox)) {
    return fail(Errc::BadField, "the field \"outbox\" contains a control character; leave it out");
  }
  return capabilities;
}

Result<EntityType> parse_entity(const Field& field) {
  const auto name = RELAY_TRY(read_string(field, kMaxKindBytes));
  if (name.empty() || name == "agent") return EntityType::Agent;
  if (name == "user") return EntityType::User;
  return fail(Errc::BadField, "the field \"entityType\" must be \"agent\" or \"user\"");
}

/// A truncated address would be another address, so one that is too long is omitted.
Result<std::string> parse_avatar(const Field& field) {
  auto url = RELAY_TRY(read_string(field, kMaxFrameBytes));
  if (url.size() > kMaxAvatarBytes) url.clear();
  return url;
}

Result<StreamPosition> parse_position(std::string_view object) {
  Field topic{"topic"}, peer{"peer"}, last_seq{"last_seq"}, lane{"lane"};
  RELAY_TRY(read_fields(object, {&topic, &peer, &last_seq, &lane}));
  StreamPosition position;
  position.topic = RELAY_TRY(read_string(topic, kMaxTopicBytes));
  position.peer = RELAY_TRY(read_string(peer, kMaxNameBytes));
  position.last_seq = static_cast<std::uint64_t>(RELAY_TRY(read_count(last_seq)));
  const auto decoded = lane_from_code(static_cast<std::uint64_t>(RELAY_TRY(read_count(lane))));
  if (!decoded) return fail(Errc::BadField, "the field \"lane\" is not a lane of this protocol");
  position.lane = *decoded;
  return position;
}

/// Collects positions from both forms of `streams`; the first error is returned at the end.
class PositionCollector final : public text::MemberVisitor, public text::ElementVisitor {
 public:
  void member(std::string_view topic, text::JsonSlice value) override { add(value, topic); }
  void element(text::JsonSlice value) override { add(value, {}); }

  Result<std::vector<StreamPosition>> take() {
    if (!error_) return Failure{std::move(error_).error()};
    return std::move(positions_);
  }

 private:
  void add(const text::JsonSlice& value, std::string_view topic) {
    if (!error_) return;
    if (value.kind != text::JsonKind::Object || positions_.size() == kMaxStreamsInResume ||
        topic.size() > kMaxTopicBytes) {
      error_ = fail(Errc::BadField, format("the field \"streams\" must hold at most {} positions, each an object with "
                                           "\"last_seq\"",
                                           kMaxStreamsInResume));
      return;
    }
    auto position = parse_position(value.raw);
    if (!position) {
      error_ = Failure{std::move(position).error()};
      return;
    }
    if (!topic.empty()) position->topic = topic;
    positions_.push_back(*std::move(position));
  }

  std::vector<StreamPosition> positions_;
  Result<void> error_;
};

Result<std::vector<StreamPosition>> parse_positions(const Field& streams) {
  if (!streams.present()) return std::vector<StreamPosition>{};
  PositionCollector collector;
  if (streams.value.kind == text::JsonKind::Object)
    RELAY_TRY(text::scan_object(streams.value.raw, collector));
  else if (streams.value.kind == text::JsonKind::Array)
    RELAY_TRY(text::scan_array(streams.value.raw, collector));
  else
    return fail(Errc::BadField, "the field \"streams\" must be an object or an array");
  return collector.take();
}

}  // namespace

Result<Hello> parse_hello(std::string_view payload) {
  Field agent{"agent"}, capabilities{"capabilities"}, entity{"entityType"}, system{"_isSystemComponent"}, cli{"cli"},
      program{"program"}, model{"model"}, task{"task"}, directory{"workingDirectory"}, team{"team"},
      display{"displayName"}, avatar{"avatarUrl"}, session{"session"}, version{"version"},
      permission_mode{"permissionMode"};
  RELAY_TRY(read_fields(payload, {&agent, &capabilities, &entity, &system, &cli, &program, &model, &task, &directory,
                                  &team, &display, &avatar, &session, &version, &permission_mode}));
  Hello hello;
  hello.agent = RELAY_TRY(read_required_string(agent, kMaxFrameBytes));
  RELAY_TRY(check_agent_name(hello.agent));
  hello.capabilities = RELAY_TRY(parse_capabilities(capabilities));
  hello.entity = RELAY_TRY(parse_entity(entity));
  hello.system_component = RELAY_TRY(read_bool(system, false));
  hello.cli = RELAY_TRY(read_truncated_string(cli, kMaxLabelBytes));
  hello.program = RELAY_TRY(read_truncated_string(program, kMaxLabelBytes));
  hello.model = RELAY_TRY(read_truncated_string(model, kMaxLabelBytes));
  hello.task = RELAY_TRY(read_truncated_string(task, kMaxTaskBytes));
  hello.working_directory = RELAY_TRY(read_truncated_string(directory, kMaxPathBytes));
  hello.team = RELAY_TRY(read_truncated_string(team, kMaxLabelBytes));
  hello.display_name = RELAY_TRY(read_truncated_string(display, kMaxLabelBytes));
  hello.version = RELAY_TRY(read_truncated_string(version, kMaxKindBytes));
  hello.permission_mode = RELAY_TRY(read_truncated_string(permission_mode, kMaxKindBytes));
  hello.avatar_url = RELAY_TRY(parse_avatar(avatar));
  if (const auto object = RELAY_TRY(read_object(session)); !object.empty()) {
    Field resume_token{"resume_token"}, claim_token{"claim_token"}, system_token{"system_token"},
        unsettled{"unsettled"}, state{"state"};
    RELAY_TRY(read_fields(object, {&resume_token, &claim_token, &system_token, &unsettled, &state}));
    hello.state = RELAY_TRY(read_string(state, kMaxKindBytes));
    hello.unsettled = RELAY_TRY(read_strings(unsettled, kMaxInflight, kMaxKindBytes));
    hello.resume_token = RELAY_TRY(read_string(resume_token, kMaxTokenBytes));
    hello.claim_token = RELAY_TRY(read_string(claim_token, kMaxTokenBytes));
    hello.system_token = RELAY_TRY(read_string(system_token, kMaxTokenBytes));
  }
  return hello;
}

std::string write_welcome(const Welcome& welcome) {
  text::JsonWriter writer;
  writer.field("session_id", welcome.session_id).field("resume_token", welcome.resume_token);
  writer.begin_object("server").field("max_frame_bytes", kMaxFrameBytes).field("heartbeat_ms", welcome.heartbeat_ms);
  writer.optional("store_id", welcome.store_id);
  return writer.take();
}

Result<WelcomeView> parse_welcome(std::string_view payload) {
  Field session{"session_id"}, token{"resume_token"}, server{"server"};
  RELAY_TRY(read_fields(payload, {&session, &token, &server}));
  WelcomeView welcome;
  welcome.session_id = RELAY_TRY(read_required_string(session, kMaxIdBytes));
  welcome.resume_token = RELAY_TRY(read_string(token, kMaxTokenBytes));
  if (const auto object = RELAY_TRY(read_object(server)); !object.empty()) {
    Field frame_bytes{"max_frame_bytes"}, heartbeat{"heartbeat_ms"}, store{"store_id"};
    RELAY_TRY(read_fields(object, {&frame_bytes, &heartbeat, &store}));
    welcome.store_id = RELAY_TRY(read_string(store, kMaxIdBytes));
    if (const auto bytes = RELAY_TRY(read_count(frame_bytes)); bytes > 0) {
      welcome.max_frame_bytes = std::min(static_cast<std::size_t>(bytes), kMaxFrameBytes);
    }
    if (const auto pause = RELAY_TRY(read_count(heartbeat)); pause > 0)
      welcome.heartbeat_ms = std::min(pause, kMaxHeartbeatMs);
  }
  return welcome;
}

Result<Resume> parse_resume(std::string_view payload) {
  Field session{"session_id"}, agent{"agent"}, token{"resume_token"}, streams{"streams"};
  RELAY_TRY(read_fields(payload, {&session, &agent, &token, &streams}));
  Resume resume;
  resume.session_id = RELAY_TRY(read_required_string(session, kMaxIdBytes));
  resume.agent = RELAY_TRY(read_required_string(agent, kMaxFrameBytes));
  RELAY_TRY(check_agent_name(resume.agent));
  resume.resume_token = RELAY_TRY(read_string(token, kMaxTokenBytes));
  resume.streams = RELAY_TRY(parse_positions(streams));
  return resume;
}

std::string write_sync(std::string_view session_id, const std::vector<SyncStream>& streams) {
  text::JsonWriter writer;
  writer.field("session_id", session_id).begin_array("streams");
  for (const SyncStream& stream : streams) {
    writer.begin_element().field("topic", stream.topic).field("peer", stream.peer);
    if (const auto lane = lane_code(stream.lane); lane != 0) writer.field("lane", lane);
    writer.field("last_seq", stream.last_seq).field("server_last_seq", stream.server_last_seq).end();
  }
  return writer.take();
}

}  // namespace relay::protocol
