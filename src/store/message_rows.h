/// Rules about messages that every store shares: the state of a message, and the limits of results and of the store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "records/records.h"

namespace relay::store {

inline constexpr std::size_t kMaxResultBytes = 4 << 20;  // of the rows of one result, which has at least one
inline constexpr std::size_t kMaxReplyCount = 10'000;    // replies are counted up to here
inline constexpr std::size_t kMaxTraceDeliveries = 10'000;
inline constexpr std::uint64_t kEventDivisor = 4;    // events may use a quarter of a bounded store
inline constexpr std::size_t kMaxAmbiguousIds = 16;  // ids in the error for an ambiguous prefix

/// A search by time finds everything if the wall clock was set back by at most this much.
inline constexpr WallMs kClockSlackMs = 3'600'000;

/// The order of states by progress: pending ones, then failed ones, then Delivered. A message with several deliveries
/// has the state of the least advanced one.
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

/// The state of a message: that of its least advanced delivery; empty without deliveries. A cancelled delivery with a
/// newer one to the same recipient was redelivered as that one and does not count.
template <class Recipient>
std::optional<records::DeliveryState> message_state(const std::vector<DeliveryProgress<Recipient>>& deliveries) {
  std::map<Recipient, std::int64_t> newest;  // only of recipients with a cancelled delivery, which are few
  for (const auto& each : deliveries)
    if (each.state == records::DeliveryState::Cancelled) newest.emplace(each.to, each.key);
  if (!newest.empty())
    for (const auto& each : deliveries)
      if (const auto found = newest.find(each.to); found != newest.end())
        found->second = found->second < each.key ? each.key : found->second;
  std::optional<records::DeliveryState> state;
  for (const auto& each : deliveries) {
    if (each.state == records::DeliveryState::Cancelled && newest.at(each.to) != each.key) continue;
    if (!state || advancement(each.state) < advancement(*state)) state = each.state;
  }
  return state;
}

/// The states that a DeliveryQuery without keys finds.
constexpr bool ended_undelivered(records::DeliveryState state) {
  using enum records::DeliveryState;
  return is_final(state) && state != Delivered && state != Cancelled;
}

inline constexpr const char* kReasonRemoved = "the agent was removed";

inline std::size_t size_of(const records::Message& message) {
  constexpr std::size_t kRowBytes = 64;  // overhead of a row besides its text
  return kRowBytes + message.id.size() + message.to.size() + message.topic.value().size() + message.kind.size() +
         message.thread.size() + message.payload.size() + message.payload_meta.size() + message.session.value().size();
}

}  // namespace relay::store
