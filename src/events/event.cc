#include "events/event.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/format.h"

namespace relay::events {
namespace {

struct Named {
  std::string_view type;
  EventOrigin source;
};

constexpr std::size_t kTyped = std::variant_size_v<Event>;

// In the order of the variant.
constexpr std::array<Named, kTyped> kNamed = {{
    {"session.started", EventOrigin::Relay},       {"session.ended", EventOrigin::Relay},
    {"item.started", EventOrigin::Session},        {"item.delta", EventOrigin::Session},
    {"item.completed", EventOrigin::Session},      {"permission.requested", EventOrigin::Session},
    {"permission.resolved", EventOrigin::Session}, {"question.requested", EventOrigin::Session},
    {"question.resolved", EventOrigin::Session},   {"message.exchanged", EventOrigin::Relay},
    {"agent.spawned", EventOrigin::Relay},         {"agent.released", EventOrigin::Relay},
    {"consensus.proposed", EventOrigin::Relay},    {"consensus.resolved", EventOrigin::Relay},
    {"tokens.used", EventOrigin::Session},         {"file.operation", EventOrigin::Session},
    {"command.executed", EventOrigin::Session},    {"agent.status", EventOrigin::Session},
    {"agent.unparsed", EventOrigin::Session},      {"loop.tripped", EventOrigin::Relay},
    {"relay.damaged", EventOrigin::Relay},
}};

constexpr std::array kDeliveryTypes = {
    "delivery.created", "delivery.queued",  "delivery.accepted",  "delivery.delivered", "delivery.deferred",
    "delivery.failed",  "delivery.expired", "delivery.cancelled", "delivery.in_doubt",  "delivery.dead"};

template <std::size_t... Index>
constexpr auto all_event_types(std::index_sequence<Index...>) {
  std::array<EventType, kTyped + kDeliveryTypes.size()> all = {EventType{
      kNamed[Index].type, kNamed[Index].source, schema::object_of<std::variant_alternative_t<Index, Event>>()}...};
  for (std::size_t i = 0; i < kDeliveryTypes.size(); ++i)
    all[kTyped + i] = {kDeliveryTypes[i], EventOrigin::Relay, schema::object_of<DeliveryChanged>()};
  return all;
}
constexpr auto kEventTypes = all_event_types(std::make_index_sequence<kTyped>{});

/// Whether `type` is the wire name of the struct `name`: `item.started` is ItemStarted.
constexpr bool is_name_of(std::string_view type, std::string_view name) {
  bool first = true;
  for (const char c : name) {
    const bool capital = c >= 'A' && c <= 'Z';
    if (capital && !first) {
      if (!type.starts_with('.')) return false;
      type.remove_prefix(1);
    }
    if (!type.starts_with(capital ? static_cast<char>(c - 'A' + 'a') : c)) return false;
    type.remove_prefix(1);
    first = false;
  }
  return type.empty();
}
static_assert(std::ranges::all_of(kEventTypes.begin(), kEventTypes.begin() + kTyped,
                                  [](const EventType& type) { return is_name_of(type.type, type.object.name); }),
              "each name is at the index of its struct in the variant");

template <std::size_t... Index>
Result<Event> read_as(std::string_view type, const json::object& members, std::index_sequence<Index...>) {
  Result<Event> event = fail(format("\"{}\" is not the type of an event that a session can report", type));
  const auto read = [&]<std::size_t At>(std::integral_constant<std::size_t, At>) {
    if (type == kNamed[At].type) event = schema::read<std::variant_alternative_t<At, Event>>(members);
  };
  (read(std::integral_constant<std::size_t, Index>{}), ...);
  return event;
}

}  // namespace

std::span<const EventType> event_types() { return kEventTypes; }

const EventType* find_event_type(std::string_view type) {
  const auto* found = std::ranges::find(kEventTypes, type, &EventType::type);
  return found == kEventTypes.end() ? nullptr : found;
}

Result<void> check_type(std::string_view wanted) {
  std::string groups;
  std::vector<std::string_view> named;
  for (const auto& event_type : kEventTypes) {
    const auto group = event_type.type.substr(0, event_type.type.find('.'));
    if (wanted == event_type.type || wanted == group) return {};
    if (std::ranges::find(named, group) != named.end()) continue;
    named.push_back(group);
    groups += format("{}{}", groups.empty() ? "" : ", ", group);
  }
  return fail(format("\"{}\" is not a type of event; there are {}, and the types in them, such as item.started", wanted,
                     groups));
}

std::string_view type_of(const Event& event) { return kEventTypes[event.index()].type; }

json::object members_of(const Event& event) {
  return std::visit([](const auto& value) { return schema::write(value); }, event);
}

Result<Event> read_event(std::string_view type, const json::object& members) {
  return read_as(type, members, std::make_index_sequence<kTyped>{});
}

}  // namespace relay::events
