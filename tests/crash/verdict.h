/// The judge: compares the messages that each client meant to send with those that each client received.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "journal.h"

namespace relay::crash {

inline constexpr std::size_t kMaxExamples = 10;  // of what went wrong, for a person to look into

struct Verdict {
  std::uint64_t accepted = 0;  // taken by an outbox
  std::uint64_t in_doubt = 0;  // the sender died while handing it over; may arrive, once
  std::uint64_t received = 0;
  std::uint64_t lost = 0;        // accepted, never received
  std::uint64_t duplicated = 0;  // received again
  std::uint64_t disordered = 0;  // received after a later one of its stream
  std::uint64_t invented = 0;    // received, never sent
  std::uint64_t refused = 0;     // the daemon said it would never take it
  std::vector<std::string> examples;

  [[nodiscard]] bool complete() const { return lost == 0; }
  [[nodiscard]] bool clean() const { return lost + duplicated + disordered + invented + refused == 0; }
};

/// By client name: the texts of its two journals.
struct Witness {
  std::string sent;
  std::string received;
};
Verdict judge(const std::map<std::string, Witness>& witnesses);

}  // namespace relay::crash
