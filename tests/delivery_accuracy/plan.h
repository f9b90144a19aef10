/// The messages of a run: everything about message n is derived from the seed and n.
///
/// So the sent messages need not be recorded: a text in an agent's log contains its number, and the number gives the
/// rest.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace relay::accuracy {

using Number = std::uint64_t;

struct PlannedMessage {
  std::size_t sender = 0;
  std::size_t agent = 0;
  bool immediate = false;  // else on-idle

  friend auto operator<=>(const PlannedMessage&, const PlannedMessage&) = default;
};

struct Plan {
  std::uint64_t seed = 0;
  std::size_t senders = 1;
  std::size_t agents = 1;

  [[nodiscard]] PlannedMessage message(Number number) const;
};

/// `message 17 start … message 17 end`, unique, 35 to about 600 characters.
std::string body_of(Number number);

/// A body of which at least the start is in a text.
struct BodyMatch {
  Number number = 0;
  bool complete = false;

  friend bool operator==(const BodyMatch&, const BodyMatch&) = default;
};
std::vector<BodyMatch> find_bodies(std::string_view text);

}  // namespace relay::accuracy
