/// What every store says alike about a message: how far it has come, how much an answer or the store may hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "records/records.h"

namespace relay::store {

inline constexpr std::size_t kMaxResultBytes = 4 << 20;  // rows of one answer stop here, after at least one
inline constexpr std::size_t kMaxReplyCount = 10'000;    // replies are counted this far
inline constexpr std::size_t kMaxTraceDeliveries = 10'000;
inline constexpr std::uint64_t kEventShare = 4;      // where size is bounded: events may have a quarter of it
inline constexpr std::size_t kMaxAmbiguousIds = 16;  // named when a prefix fits several

/// How far a wall clock may have been set back and a search by time still finds everything.
inline constexpr WallMs kClockSlackMs = 3'600'000;

/// A message with several deliveries is as far as the least advanced: what still moves, then what ended badly, and
/// only then delivered.
constexpr int advancement(records::DeliveryState state) {
  using enum records::DeliveryState;
  switch (state) {
    case Queued: return 0;
    case Deferred: return 1;
    case Accepted: return 2;
    case InDoubt: return 3;
    case Dead: return 4;
    case Failed: return 5;
    case Expired: return 6;
    case Cancelled: return 7;
    case Delivered: return 8;
  }
  return 0;
}

/// One delivery of a message, as far as the message's state depends on it.
template <class Recipient>
struct DeliveryProgress {
  Recipient to{};
  std::int64_t key = 0;
  records::DeliveryState state{};
};

/// The state of a message: that of its least advanced delivery; none without deliveries. A cancelled delivery with a newer
/// one to the same recipient was redelivered as that one and does not count.
template <class Recipient>
std::optional<records::DeliveryState> message_state(const std::vector<DeliveryProgress<Recipient>>& deliveries) {
  std::map<Recipient, std::int64_t> newest;  // of those who have a cancelled one, which are few
  for (const auto& each : deliveries)
    if (each.state == records::DeliveryState::Cancelled) newest.emplace(each.to, each.key);
  if (!newest.empty())
    for (const auto& each : deliveries)
      if (const auto found = newest.find(each.to); found != newest.end())
        found->second = found->second < each.key ? each.key : found->second;
  std::optional<records::DeliveryState> least;
  for (const auto& each : deliveries) {
    if (each.state == records::DeliveryState::Cancelled && newest.at(each.to) != each.key) continue;
    if (!least || advancement(each.state) < advancement(*least)) least = each.state;
  }
  return least;
}

/// What DeadQuery finds.
constexpr bool is_dead(records::DeliveryState state) {
  using enum records::DeliveryState;
  return is_final(state) && state != Delivered && state != Cancelled;
}

inline constexpr const char* kReasonRemoved = "the agent was removed";

inline std::size_t size_of(const records::Message& message) {
  constexpr std::size_t kRowBytes = 64;  // what keeping a row costs besides its text
  return kRowBytes + message.id.size() + message.to.size() + message.topic.value().size() + message.kind.size() +
         message.thread.size() + message.payload.size() + message.payload_meta.size() + message.session.value().size();
}

}  // namespace relay::store
