#include <algorithm>
#include <array>
#include <utility>

#include "base/format.h"
#include "protocol/contract.h"
#include "protocol/contract_json.h"
#include "protocol/errors.h"
#include "protocol/limits.h"
#include "protocol/payload_fields.h"
#include "text/utf8.h"

namespace relay::protocol {
namespace {

constexpr std::string_view kSystem = "system";
constexpr std::string_view kPairPrefix = "dm:";

class ObjectCollector final : public text::ElementVisitor {
 public:
  void element(text::JsonSlice value) override {
    if (value.kind == text::JsonKind::Object && objects.size() < kMaxAttachments) objects.push_back(value.raw);
  }
  std::vector<std::string_view> objects;
};

Result<Attachment> parse_attachment(std::string_view object) {
  Field name{"name"}, path{"path"}, bytes{"bytes"}, sha256{"sha256"}, media{"mediaType"};
  RELAY_TRY(read_fields(object, {&name, &path, &bytes, &sha256, &media}));
  Attachment one;
  one.name = RELAY_TRY(read_string(name, kMaxAttachmentNameBytes));
  one.path = RELAY_TRY(read_string(path, kMaxPathBytes));
  one.bytes = RELAY_TRY(read_count(bytes));
  one.sha256 = RELAY_TRY(read_string(sha256, kMaxKindBytes));
  one.media_type = RELAY_TRY(read_string(media, kMaxIdBytes));
  one.object = object;
  return one;
}

/// The attachments that can be read; published clients put arbitrary values there.
std::vector<Attachment> read_attachments(const Field& field) {
  std::vector<Attachment> all;
  ObjectCollector collector;
  if (field.value.kind != text::JsonKind::Array || !text::scan_array(field.value.raw, collector)) return all;
  for (const auto object : collector.objects)
    if (auto one = parse_attachment(object)) all.push_back(*std::move(one));
  return all;
}

std::vector<std::string> read_mentions(const Field& field) {
  auto names = read_strings(field, kMaxMentions, kMaxNameBytes);
  return names ? *std::move(names) : std::vector<std::string>{};
}

MessageTarget target_of(std::string_view to, std::string_view thread) {
  if (to.empty()) return {.type = TargetType::Thread, .name = std::string{thread}};
  if (to.starts_with('#')) return {.type = TargetType::Channel, .name = std::string{to}};
  if (to == kEveryone || to == kAllUsers) return {.type = TargetType::Group, .agents = {std::string{to}}};
  if (to.starts_with(kPairPrefix)) {
    MessageTarget target{.type = TargetType::Group, .name = std::string{to}};
    for (auto rest = to.substr(kPairPrefix.size()); !rest.empty();) {
      const auto end = std::min(rest.find(':'), rest.size());
      target.agents.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return target;
  }
  return {.type = TargetType::Dm, .name = std::string{to}};
}

bool is_system(std::string_view name) { return name == kSystem || name == kConsensus || name == kRouter; }

DeliveryReason reason_of(const RelayMessage& message, std::string_view recipient) {
  if (message.from.kind == AgentKind::System) return DeliveryReason::Notification;
  if (std::ranges::find(message.mentions, recipient) != message.mentions.end()) return DeliveryReason::Mention;
  if (!message.thread.empty()) return DeliveryReason::ThreadReply;
  return message.target.type == TargetType::Dm ? DeliveryReason::Dm : DeliveryReason::Message;
}

}  // namespace

std::string_view name_of(TargetType type) {
  switch (type) {
    case TargetType::Dm: return "dm";
    case TargetType::Channel: return "channel";
    case TargetType::Group: return "group_dm";
    case TargetType::Thread: return "thread";
  }
  std::unreachable();
}

RelayMessage message_from(const MessageParts& parts) {
  RelayMessage message;
  message.id = parts.id;
  message.workspace_id = parts.workspace_id;
  message.from =
      is_system(parts.from) ? identity_of(kSystem, AgentKind::System) : identity_of(parts.from, parts.from_kind);
  message.created_at = parts.at;
  Field body{"body"}, thread{"thread"}, data{"data"}, attachments{"attachments"}, mentions{"mentions"};
  if (read_fields(parts.payload, {&body, &thread, &data, &attachments, &mentions})) {
    if (body.value.kind == text::JsonKind::String) message.text = text::decode_string(body.value.raw);
    message.thread = read_string(thread, kMaxIdBytes).value_or(std::string{});
    message.attachments = read_attachments(attachments);
    message.mentions = read_mentions(mentions);
    if (data.value.kind == text::JsonKind::Object) {
      message.metadata = data.value.raw;
      Field inner_attachments{"attachments"}, inner_mentions{"mentions"};
      if (read_fields(data.value.raw, {&inner_attachments, &inner_mentions})) {
        if (message.attachments.empty()) message.attachments = read_attachments(inner_attachments);
        if (message.mentions.empty()) message.mentions = read_mentions(inner_mentions);
      }
    }
  }
  message.target = target_of(parts.to, message.thread);
  return message;
}

MessageContext context_from(std::string_view delivery_id, const DeliveryView& delivery, std::string_view payload_meta,
                            const RelayMessage& message, std::string_view recipient) {
  MessageContext context;
  context.id = delivery_id;
  context.priority = delivery.lane.priority;
  context.attempt = delivery.attempt;
  context.mode = delivery.lane.mode;
  context.reason = reason_of(message, recipient);
  const auto meta = parse_send_meta(payload_meta);
  if (meta && meta->delivery) {
    context.mode = meta->delivery->mode;
    context.priority = std::max(context.priority, meta->delivery->priority);
    context.deadline = meta->delivery->deadline;
    context.idempotency_key = meta->delivery->idempotency_key;
    Field options{"delivery"}, reason{"reason"}, metadata{"metadata"};
    if (read_fields(payload_meta, {&options}) && read_fields(options.value.raw, {&reason, &metadata})) {
      const auto requested = parse_delivery_reason(read_string(reason, kMaxKindBytes).value_or(std::string{}));
      if (requested) context.reason = *requested;
      if (metadata.value.kind == text::JsonKind::Object) context.metadata = metadata.value.raw;
    }
  }
  if (delivery.mode) context.mode = *delivery.mode;
  if (delivery.reason) context.reason = *delivery.reason;
  return context;
}

std::string write_message(const RelayMessage& message) {
  text::JsonWriter writer;
  detail::write_message_members(writer, message);
  return writer.take();
}

namespace {

Result<MessageTarget> parse_target(const Field& field) {
  const auto object = RELAY_TRY(read_object(field));
  if (object.empty()) return fail(Errc::MissingField, "the field \"target\" is missing");
  Field type{"type"}, agent{"agent"}, channel{"channel"}, agents{"agents"}, thread{"thread"};
  RELAY_TRY(read_fields(object, {&type, &agent, &channel, &agents, &thread}));
  const auto name = RELAY_TRY(read_required_string(type, kMaxKindBytes));
  MessageTarget target;
  if (name == name_of(TargetType::Dm)) {
    target.name = RELAY_TRY(read_string(agent, kMaxTopicBytes));
  } else if (name == name_of(TargetType::Channel)) {
    target = {.type = TargetType::Channel, .name = RELAY_TRY(read_string(channel, kMaxTopicBytes))};
  } else if (name == name_of(TargetType::Group)) {
    target = {.type = TargetType::Group,
              .name = RELAY_TRY(read_string(channel, kMaxTopicBytes)),
              .agents = RELAY_TRY(read_strings(agents, kMaxParticipants, kMaxTopicBytes))};
  } else if (name == name_of(TargetType::Thread)) {
    target = {.type = TargetType::Thread, .name = RELAY_TRY(read_string(thread, kMaxIdBytes))};
  } else {
    return fail(Errc::BadField, "the type of a target must be dm, channel, group_dm or thread");
  }
  return target;
}

}  // namespace

namespace detail {

Result<AgentIdentity> parse_identity(const Field& field) {
  if (field.value.kind == text::JsonKind::String && field.value.raw == "\"system\"")
    return identity_of(kSystem, AgentKind::System);
  const auto object = RELAY_TRY(read_object(field));
  if (object.empty()) return fail(Errc::MissingField, format("the field \"{}\" is missing", field.name));
  Field id{"id"}, name{"name"}, handle{"handle"}, kind{"kind"}, metadata{"metadata"};
  RELAY_TRY(read_fields(object, {&id, &name, &handle, &kind, &metadata}));
  AgentIdentity identity;
  identity.name = RELAY_TRY(read_required_string(name, kMaxNameBytes));
  identity.id = RELAY_TRY(read_string(id, kMaxIdBytes));
  if (identity.id.empty()) identity.id = identity.name;
  identity.handle = RELAY_TRY(read_string(handle, kMaxIdBytes));
  const auto kind_name = RELAY_TRY(read_string(kind, kMaxKindBytes));
  for (const auto candidate : {AgentKind::Human, AgentKind::System, AgentKind::Service})
    if (name_of(candidate) == kind_name) identity.kind = candidate;
  identity.metadata = RELAY_TRY(read_object(metadata));
  if (identity.kind == AgentKind::System) return identity_of(kSystem, AgentKind::System);
  return identity;
}

void write_identity(text::JsonWriter& writer, std::string_view key, const AgentIdentity& identity) {
  writer.begin_object(key).field("id", identity.id).field("name", identity.name).field("handle", identity.handle);
  writer.field("kind", name_of(identity.kind));
  if (!identity.metadata.empty()) writer.raw("metadata", identity.metadata);
  writer.end();
}

void write_message_members(text::JsonWriter& writer, const RelayMessage& message) {
  writer.field("id", message.id).optional("workspaceId", message.workspace_id);
  const auto& target = message.target;
  writer.begin_object("target").field("type", name_of(target.type));
  switch (target.type) {
    case TargetType::Dm: writer.field("agent", target.name); break;
    case TargetType::Channel: writer.field("channel", target.name); break;
    case TargetType::Thread: writer.field("thread", target.name); break;
    case TargetType::Group:
      writer.optional("channel", target.name).begin_array("agents");
      for (const auto& agent : target.agents) writer.element(agent);
      writer.end();
      break;
  }
  writer.end();
  if (message.from.kind == AgentKind::System)
    writer.field("from", kSystem);
  else
    write_identity(writer, "from", message.from);
  writer.field("text", message.text);
  if (!message.attachments.empty()) {
    writer.begin_array("attachments");
    for (const auto& one : message.attachments) {
      if (!one.object.empty()) {
        writer.raw_element(one.object);
        continue;
      }
      writer.begin_element().optional("name", one.name).optional("path", one.path).field("bytes", one.bytes);
      writer.optional("sha256", one.sha256).optional("mediaType", one.media_type).end();
    }
    writer.end();
  }
  if (!message.mentions.empty()) {
    writer.begin_array("mentions");
    for (const auto& name : message.mentions) writer.element(name);
    writer.end();
  }
  writer.optional("thread", message.thread);
  if (!message.metadata.empty()) writer.raw("metadata", message.metadata);
  if (message.truncated) writer.field("truncated", true);
  writer.field("createdAt", message.created_at);
}

}  // namespace detail

Result<RelayMessage> parse_message(std::string_view object) {
  Field id{"id"}, workspace{"workspaceId"}, target{"target"}, from{"from"}, text{"text"}, attachments{"attachments"},
      mentions{"mentions"}, thread{"thread"}, metadata{"metadata"}, created{"createdAt"}, truncated{"truncated"};
  RELAY_TRY(read_fields(object, {&id, &workspace, &target, &from, &text, &attachments, &mentions, &thread, &metadata,
                                 &created, &truncated}));
  RelayMessage message;
  message.id = RELAY_TRY(read_required_string(id, kMaxIdBytes));
  message.workspace_id = RELAY_TRY(read_string(workspace, kMaxPathBytes));
  message.target = RELAY_TRY(parse_target(target));
  message.from = RELAY_TRY(detail::parse_identity(from));
  message.text = RELAY_TRY(read_string(text, kMaxFrameBytes));
  message.attachments = read_attachments(attachments);
  message.mentions = read_mentions(mentions);
  message.thread = RELAY_TRY(read_string(thread, kMaxIdBytes));
  message.metadata = RELAY_TRY(read_object(metadata));
  message.created_at = RELAY_TRY(read_time(created));
  message.truncated = RELAY_TRY(read_bool(truncated, false));
  return message;
}

}  // namespace relay::protocol
