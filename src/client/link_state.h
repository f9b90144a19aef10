/// The five states of a link and their transitions, checked at compile time.
///
///   DISCONNECTED → CONNECTING → HANDSHAKING → READY
///                      ↑   ↓         ↓          ↓
///                      BACKOFF ←──── lost ──────┘        Stop leads back to DISCONNECTED from everywhere.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace relay::client {

enum class LinkState : std::uint8_t { Disconnected, Connecting, Handshaking, Ready, Backoff };
enum class LinkEvent : std::uint8_t { Start, Connected, Welcomed, Lost, TimerFired, Stop };

struct LinkRow {
  LinkState from;
  LinkEvent event;
  LinkState to;
};

inline constexpr std::size_t kLinkStates = 5;

inline constexpr std::array kLinkTable{
    LinkRow{LinkState::Disconnected, LinkEvent::Start, LinkState::Connecting},
    LinkRow{LinkState::Connecting, LinkEvent::Connected, LinkState::Handshaking},
    LinkRow{LinkState::Connecting, LinkEvent::Lost, LinkState::Backoff},
    LinkRow{LinkState::Connecting, LinkEvent::Stop, LinkState::Disconnected},
    LinkRow{LinkState::Handshaking, LinkEvent::Welcomed, LinkState::Ready},
    LinkRow{LinkState::Handshaking, LinkEvent::Lost, LinkState::Backoff},
    LinkRow{LinkState::Handshaking, LinkEvent::Stop, LinkState::Disconnected},
    LinkRow{LinkState::Ready, LinkEvent::Lost, LinkState::Backoff},
    LinkRow{LinkState::Ready, LinkEvent::Stop, LinkState::Disconnected},
    LinkRow{LinkState::Backoff, LinkEvent::TimerFired, LinkState::Connecting},
    LinkRow{LinkState::Backoff, LinkEvent::Stop, LinkState::Disconnected},
    LinkRow{LinkState::Disconnected, LinkEvent::Stop, LinkState::Disconnected},
};

/// The state after the event; nothing when the table has no such transition.
constexpr std::optional<LinkState> next_state(LinkState from, LinkEvent event) {
  for (const auto& row : kLinkTable)
    if (row.from == from && row.event == event) return row.to;
  return std::nullopt;
}

std::string_view name_of(LinkState state);

namespace detail {

constexpr bool deterministic() {
  for (std::size_t i = 0; i < kLinkTable.size(); ++i)
    for (std::size_t j = i + 1; j < kLinkTable.size(); ++j)
      if (kLinkTable[i].from == kLinkTable[j].from && kLinkTable[i].event == kLinkTable[j].event) return false;
  return true;
}

constexpr bool all_reachable() {
  std::array<bool, kLinkStates> seen{true};
  for (std::size_t round = 0; round < kLinkStates; ++round)
    for (const auto& row : kLinkTable)
      if (seen[static_cast<std::size_t>(row.from)]) seen[static_cast<std::size_t>(row.to)] = true;
  for (const bool one : seen)
    if (!one) return false;
  return true;
}

constexpr bool stop_works_everywhere() {
  for (std::size_t state = 0; state < kLinkStates; ++state)
    if (next_state(static_cast<LinkState>(state), LinkEvent::Stop) != LinkState::Disconnected) return false;
  return true;
}

}  // namespace detail

static_assert(detail::deterministic() && detail::all_reachable() && detail::stop_works_everywhere());
static_assert(!next_state(LinkState::Disconnected, LinkEvent::Welcomed));  // no WELCOME before connecting
static_assert(!next_state(LinkState::Connecting, LinkEvent::Welcomed));    // nor before HELLO
static_assert(!next_state(LinkState::Disconnected, LinkEvent::Lost));      // a stopped link stays stopped
static_assert(next_state(LinkState::Ready, LinkEvent::Lost) == LinkState::Backoff);

}  // namespace relay::client
