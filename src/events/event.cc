#include "events/event.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/format.h"

namespace relay::events {
namespace {

template <class T>
constexpr std::string_view kTypeName = "";
template <class T>
constexpr Source kSource = Source::Session;

template <>
constexpr std::string_view kTypeName<SessionStarted> = "session.started";
template <>
constexpr std::string_view kTypeName<SessionEnded> = "session.ended";
template <>
constexpr std::string_view kTypeName<ItemStarted> = "item.started";
template <>
constexpr std::string_view kTypeName<ItemDelta> = "item.delta";
template <>
constexpr std::string_view kTypeName<ItemCompleted> = "item.completed";
template <>
constexpr std::string_view kTypeName<PermissionRequested> = "permission.requested";
template <>
constexpr std::string_view kTypeName<PermissionResolved> = "permission.resolved";
template <>
constexpr std::string_view kTypeName<QuestionRequested> = "question.requested";
template <>
constexpr std::string_view kTypeName<QuestionResolved> = "question.resolved";
template <>
constexpr std::string_view kTypeName<MessageExchanged> = "message.exchanged";
template <>
constexpr std::string_view kTypeName<AgentSpawned> = "agent.spawned";
template <>
constexpr std::string_view kTypeName<AgentReleased> = "agent.released";
template <>
constexpr std::string_view kTypeName<ConsensusProposed> = "consensus.proposed";
template <>
constexpr std::string_view kTypeName<ConsensusResolved> = "consensus.resolved";
template <>
constexpr std::string_view kTypeName<TokensUsed> = "tokens.used";
template <>
constexpr std::string_view kTypeName<FileOperation> = "file.operation";
template <>
constexpr std::string_view kTypeName<CommandExecuted> = "command.executed";
template <>
constexpr std::string_view kTypeName<AgentStatus> = "agent.status";
template <>
constexpr std::string_view kTypeName<AgentUnparsed> = "agent.unparsed";
template <>
constexpr std::string_view kTypeName<LoopTripped> = "loop.tripped";

template <>
constexpr Source kSource<SessionStarted> = Source::Relay;
template <>
constexpr Source kSource<SessionEnded> = Source::Relay;
template <>
constexpr Source kSource<MessageExchanged> = Source::Relay;
template <>
constexpr Source kSource<AgentSpawned> = Source::Relay;
template <>
constexpr Source kSource<AgentReleased> = Source::Relay;
template <>
constexpr Source kSource<ConsensusProposed> = Source::Relay;
template <>
constexpr Source kSource<ConsensusResolved> = Source::Relay;
template <>
constexpr Source kSource<LoopTripped> = Source::Relay;

constexpr std::array kDeliveryTypes = {
    "delivery.created", "delivery.queued",  "delivery.accepted",  "delivery.delivered", "delivery.deferred",
    "delivery.failed",  "delivery.expired", "delivery.cancelled", "delivery.in_doubt",  "delivery.dead"};

constexpr std::size_t kTyped = std::variant_size_v<Event>;

template <std::size_t... Index>
constexpr auto all_kinds(std::index_sequence<Index...>) {
  std::array<Kind, kTyped + kDeliveryTypes.size()> all = {
      Kind{kTypeName<std::variant_alternative_t<Index, Event>>, kSource<std::variant_alternative_t<Index, Event>>,
           schema::object_of<std::variant_alternative_t<Index, Event>>()}...};
  for (std::size_t i = 0; i < kDeliveryTypes.size(); ++i)
    all[kTyped + i] = {kDeliveryTypes[i], Source::Relay, schema::object_of<DeliveryChanged>()};
  return all;
}
constexpr auto kKinds = all_kinds(std::make_index_sequence<kTyped>{});

template <std::size_t... Index>
Result<Event> read_as(std::string_view type, const json::object& members, std::index_sequence<Index...>) {
  Result<Event> event = fail(format("\"{}\" is no event that can be told", type));
  const auto read = [&]<class T>(std::type_identity<T>) {
    if (type != kTypeName<T>) return;
    auto value = schema::read<T>(members);
    if (value)
      event = std::move(*value);
    else
      event = Failure{value.error()};
  };
  (read(std::type_identity<std::variant_alternative_t<Index, Event>>{}), ...);
  return event;
}

}  // namespace

std::span<const Kind> kinds() { return kKinds; }

const Kind* kind_named(std::string_view type) {
  const auto* kind = std::ranges::find(kKinds, type, &Kind::type);
  return kind == kKinds.end() ? nullptr : kind;
}

std::string_view type_of(const Event& event) { return kKinds[event.index()].type; }

json::object members_of(const Event& event) {
  return std::visit([](const auto& value) { return schema::write(value); }, event);
}

Result<Event> read_event(std::string_view type, const json::object& members) {
  return read_as(type, members, std::make_index_sequence<kTyped>{});
}

}  // namespace relay::events
