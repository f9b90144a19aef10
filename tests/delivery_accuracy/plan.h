/// Who writes what to whom: everything about message number n follows from the seed and n.
///
/// So the judge needs no memory of what was sent: a text found in an agent's log says its number, and the number says the rest.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace relay::verdicts {

using Number = std::uint64_t;

struct PlannedMessage {
  std::size_t sender = 0;
  std::size_t agent = 0;
  bool immediate = false;  // otherwise on-idle

  friend auto operator<=>(const PlannedMessage&, const PlannedMessage&) = default;
};

struct Plan {
  std::uint64_t seed = 0;
  std::size_t senders = 1;
  std::size_t agents = 1;

  [[nodiscard]] PlannedMessage errand(Number number) const;
};

/// `parcel 17 begins … parcel 17 ends`, no two alike, from 35 to some 600 characters.
std::string body_of(Number number);

/// A parcel of which at least the beginning stands in a text.
struct Found {
  Number number = 0;
  bool whole = false;

  friend bool operator==(const Found&, const Found&) = default;
};
std::vector<Found> parcels_in(std::string_view text);

}  // namespace relay::verdicts
