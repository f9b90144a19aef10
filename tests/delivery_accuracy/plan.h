/// The messages of a run: everything about message number n is derived from the seed and n.
///
/// So the judge need not record the sent messages: a text in an agent's log has its number, and the number gives the
/// rest.
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

/// A parcel whose start, at least, is in a text.
struct Found {
  Number number = 0;
  bool whole = false;

  friend bool operator==(const Found&, const Found&) = default;
};
std::vector<Found> parcels_in(std::string_view text);

}  // namespace relay::verdicts
