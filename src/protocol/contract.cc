#include "protocol/contract.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/format.h"
#include "protocol/errors.h"
#include "protocol/limits.h"
#include "protocol/payload_fields.h"
#include "text/json_writer.h"

namespace relay::protocol {
namespace {

constexpr std::array<std::string_view, 5> kMembers{"messaging", "delivery", "events", "actions", "lifecycle"};

void write_texts(text::JsonWriter& writer, std::string_view key, const std::vector<std::string>& texts) {
  writer.begin_array(key);
  for (const auto& text : texts) writer.element(text);
  writer.end();
}

void write_delivery_part(text::JsonWriter& writer, DeliveryModes modes, bool queue) {
  writer.begin_object("delivery").begin_array("modes");
  for (const auto mode : kDeliveryModes)
    if (modes.has(mode)) writer.element(name_of(mode));
  writer.end().field("queue", queue).end();
}

/// Copies the contract's members from an object that may have others.
class MemberCopier final : public text::MemberVisitor {
 public:
  explicit MemberCopier(text::JsonWriter& writer) : writer_{writer} {}
  void member(std::string_view key, text::JsonSlice value) override {
    if (std::ranges::find(kMembers, key) != kMembers.end()) writer_.raw(key, value.raw);
  }

 private:
  text::JsonWriter& writer_;
};

}  // namespace

std::string_view name_of(AgentKind kind) {
  switch (kind) {
    case AgentKind::Agent: return "agent";
    case AgentKind::Human: return "human";
    case AgentKind::System: return "system";
    case AgentKind::Service: return "service";
  }
  std::unreachable();
}

AgentIdentity identity_of(std::string_view name, AgentKind kind) {
  return {.id = std::string{name}, .name = std::string{name}, .handle = format("@{}", name), .kind = kind};
}

std::string write_session_capabilities(const AgentSessionCapabilities& can) {
  text::JsonWriter writer;
  writer.begin_object("messaging").field("receive", true).field("send", can.messaging.send);
  if (!can.messaging.attachments.empty()) write_texts(writer, "attachments", can.messaging.attachments);
  writer.end();
  write_delivery_part(writer, can.delivery.modes, can.delivery.queue);
  writer.begin_object("events");
  write_texts(writer, "emits", can.events.emits);
  writer.end();
  if (can.actions)
    writer.begin_object("actions").field("invoke", can.actions->invoke).field("expose", can.actions->expose).end();
  writer.begin_object("lifecycle")
      .field("release", true)
      .field("pause", can.lifecycle.pause)
      .field("resume", can.lifecycle.resume)
      .field("fork", can.lifecycle.fork)
      .field("snapshot", can.lifecycle.snapshot)
      .end();
  return writer.take();
}

Result<AgentSessionCapabilities> parse_session_capabilities(std::string_view object) {
  Field messaging{"messaging"}, delivery{"delivery"}, events{"events"}, actions{"actions"}, lifecycle{"lifecycle"};
  RELAY_TRY(read_fields(object, {&messaging, &delivery, &events, &actions, &lifecycle}));
  AgentSessionCapabilities can;
  if (const auto part = RELAY_TRY(read_object(messaging)); !part.empty()) {
    Field send{"send"}, attachments{"attachments"};
    RELAY_TRY(read_fields(part, {&send, &attachments}));
    can.messaging.send = RELAY_TRY(read_bool(send, true));
    can.messaging.attachments = RELAY_TRY(read_strings(attachments, kMaxAttachments, kMaxKindBytes));
  }
  if (const auto part = RELAY_TRY(read_object(delivery)); !part.empty()) {
    Field modes{"modes"}, queue{"queue"};
    RELAY_TRY(read_fields(part, {&modes, &queue}));
    can.delivery.modes = RELAY_TRY(read_modes(modes));
    can.delivery.queue = RELAY_TRY(read_bool(queue, false));
  }
  can.events.emits.clear();
  if (const auto part = RELAY_TRY(read_object(events)); !part.empty()) {
    Field emits{"emits"};
    RELAY_TRY(read_fields(part, {&emits}));
    can.events.emits = RELAY_TRY(read_strings(emits, kMaxEventTypes, kMaxKindBytes));
  }
  if (const auto part = RELAY_TRY(read_object(actions)); !part.empty()) {
    Field invoke{"invoke"}, expose{"expose"};
    RELAY_TRY(read_fields(part, {&invoke, &expose}));
    can.actions = {.invoke = RELAY_TRY(read_bool(invoke, false)), .expose = RELAY_TRY(read_bool(expose, false))};
  }
  if (const auto part = RELAY_TRY(read_object(lifecycle)); !part.empty()) {
    Field pause{"pause"}, resume{"resume"}, fork{"fork"}, snapshot{"snapshot"};
    RELAY_TRY(read_fields(part, {&pause, &resume, &fork, &snapshot}));
    can.lifecycle = {.pause = RELAY_TRY(read_bool(pause, false)),
                     .resume = RELAY_TRY(read_bool(resume, false)),
                     .fork = RELAY_TRY(read_bool(fork, false)),
                     .snapshot = RELAY_TRY(read_bool(snapshot, false))};
  }
  return can;
}

Result<void> declare(const AgentSessionCapabilities& contract, Capabilities& capabilities) {
  auto text = write_session_capabilities(contract);
  // HELLO has other members besides these.
  constexpr std::size_t kMaxBytes = kMaxCapabilitiesBytes - 512;
  if (text.size() > kMaxBytes)
    return fail(Errc::BadField, format("the capabilities of a session have {} bytes, {} are allowed; name fewer kinds "
                                       "of attachments and events",
                                       text.size(), kMaxBytes));
  capabilities.modes = contract.delivery.modes;
  capabilities.queue = contract.delivery.queue;
  capabilities.pause = contract.lifecycle.pause;
  capabilities.contract = std::move(text);
  return {};
}

void write_contract(text::JsonWriter& writer, const Capabilities& can) {
  if (!can.contract.empty()) {
    MemberCopier copier{writer};
    (void)text::scan_object(can.contract, copier);  // written here, or parsed before
    return;
  }
  if (!can.modes && !can.queue && !can.pause) return;
  if (can.modes)
    write_delivery_part(writer, *can.modes, can.queue);
  else
    writer.begin_object("delivery").field("queue", can.queue).end();
  writer.begin_object("lifecycle").field("release", true).field("pause", can.pause).end();
}

}  // namespace relay::protocol
