/// Compares the messages that each client sent with those that each client received.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "journal.h"

namespace relay::crash {

inline constexpr std::size_t kMaxExamples = 10;  // of errors

struct Comparison {
  std::uint64_t accepted = 0;  // by an outbox
  std::uint64_t in_doubt = 0;  // the sender was killed during the hand-off to the outbox; may arrive once
  std::uint64_t received = 0;
  std::uint64_t lost = 0;          // accepted, never received
  std::uint64_t duplicated = 0;    // receptions after the first
  std::uint64_t out_of_order = 0;  // received after a later one of its stream
  std::uint64_t spurious = 0;      // received, never sent
  std::uint64_t refused = 0;       // permanently rejected by the daemon
  std::vector<std::string> examples;

  [[nodiscard]] bool complete() const { return lost == 0; }
  [[nodiscard]] bool clean() const { return lost + duplicated + out_of_order + spurious + refused == 0; }
};

/// The contents of a client's two journals.
struct ClientJournals {
  std::string sent;
  std::string received;
};
Comparison compare(const std::map<std::string, ClientJournals>& journals);

}  // namespace relay::crash
